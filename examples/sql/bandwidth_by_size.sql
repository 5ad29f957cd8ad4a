-- Bus bandwidth of collectives by operation, data type, size and number of ranks: mean, minimum and maximum
-- (10^9 bytes per second) over the collectives of that size, and their exposed time.
-- Standard SQL over the table `collectives` of a dataset (rankscope export --parquet).
SELECT run, name, dtype, mib, group_size, count(*) AS collectives, avg(bus_gbps) AS bus_gbps,
  min(bus_gbps) AS least_gbps, max(bus_gbps) AS greatest_gbps, sum(exposed_ms) AS exposed_ms
FROM (
  SELECT run, collective_id, min(name) AS name, min(dtype) AS dtype, max(mib) AS mib,
    max(group_size) AS group_size, max(bus_gbps) AS bus_gbps, sum(exposed_ns) / 1e6 AS exposed_ms
  FROM collectives
  GROUP BY run, collective_id
) AS each_once
GROUP BY run, name, dtype, mib, group_size
ORDER BY run, name, dtype, mib, group_size
