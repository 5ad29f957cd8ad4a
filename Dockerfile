# rankscope in a small image: docker build -t rankscope . && docker run --rm -v "$PWD:/data" rankscope top .
# One package list for all: scripts/install_deps.sh.
ARG DEBIAN=12
FROM debian:${DEBIAN}-slim AS build
WORKDIR /src
COPY . .
RUN ./scripts/install_deps.sh build \
    && apt-get install -y -qq --no-install-recommends dpkg-dev \
    && ./scripts/package.sh

FROM debian:${DEBIAN}-slim
COPY --from=build /src/build/packages/*.deb /tmp/
RUN apt-get update -qq \
    && apt-get install -y -qq /tmp/*.deb \
    && rm -rf /var/lib/apt/lists/* /tmp/*.deb
WORKDIR /data
ENTRYPOINT ["rankscope"]
