// Simulates libcudart, libcublas and libcublasLt of a machine with one H200. All three names load
// one file, so that they share a clock.
#define GPU(name) cuda##name
#define LIGHT(name) cublasLt##name

#include <cstddef>

namespace {
struct Values {
  static constexpr int kTransA = 3, kTransB = 4, kBatchCount = 5, kBatchStride = 6;
  static constexpr int kTranspose = 1, kInvalid = 7, kNotSupported = 15;
  static constexpr std::size_t kWorkspaceAt = 64, kResultBytes = 96;
  static constexpr const char* kMatmul = "cublasLtMatmul";
};
} // namespace

#include "fake_gpu.h"

namespace {
char scale_of(int compute) {
  return compute == 70 ? 'd' : compute == 64 ? 'h' : compute == 72 ? 'i' : 's';
}
int gemm(const char* function, int ta, int tb, const fake::Product& sizes, const void* alpha,
         const void* beta, int algorithm) {
  fake::Product p = sizes;
  p.function = function;
  p.ta = ta == 1;
  p.tb = tb == 1;
  if (ta < 0 || ta > 1 || tb < 0 || tb > 1 || algorithm != -1)
    return Values::kInvalid;
  if (p.a.type == 28 || p.a.type == 29)
    return Values::kNotSupported;
  p.alpha = fake::scalar(alpha, scale_of(p.compute));
  p.beta = fake::scalar(beta, scale_of(p.compute));
  p.a.rows = p.ta ? p.k : p.m;
  p.a.cols = p.ta ? p.m : p.k;
  p.b.rows = p.tb ? p.n : p.k;
  p.b.cols = p.tb ? p.k : p.n;
  p.d.rows = p.m;
  p.d.cols = p.n;
  p.c = p.d;
  return fake::multiply(p) ? 0 : Values::kInvalid;
}
fake::Matrix matrix(const void* data, int type, long long ld, long long stride) {
  return {data, type, fake::data_bytes(type), 0, 0, ld, stride};
}
} // namespace

FAKE int cudaGetDeviceProperties_v2(void* properties, int) {
  std::strcpy(static_cast<char*>(properties), "Fake H200");
  return 0;
}
FAKE int cudaDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 75 ? 9 : 0;
  return 0;
}
FAKE int cublasCreate_v2(void** handle) {
  *handle = &fake::gpu;
  return 0;
}
FAKE int cublasDestroy_v2(void*) {
  return 0;
}
FAKE int cublasGemmEx(void*, int ta, int tb, int m, int n, int k, const void* alpha, const void* a,
                      int a_type, int lda, const void* b, int b_type, int ldb, const void* beta,
                      void* c, int c_type, int ldc, int compute, int algorithm) {
  fake::Product p = {};
  p.m = m;
  p.n = n;
  p.k = k;
  p.batch = 1;
  p.a = matrix(a, a_type, lda, 0);
  p.b = matrix(b, b_type, ldb, 0);
  p.d = matrix(c, c_type, ldc, 0);
  p.compute = compute;
  return gemm("cublasGemmEx", ta, tb, p, alpha, beta, algorithm);
}
FAKE int cublasGemmStridedBatchedEx(void*, int ta, int tb, int m, int n, int k, const void* alpha,
                                    const void* a, int a_type, int lda, long long stride_a,
                                    const void* b, int b_type, int ldb, long long stride_b,
                                    const void* beta, void* c, int c_type, int ldc,
                                    long long stride_c, int batch, int compute, int algorithm) {
  fake::Product p = {};
  p.m = m;
  p.n = n;
  p.k = k;
  p.batch = batch;
  p.a = matrix(a, a_type, lda, stride_a);
  p.b = matrix(b, b_type, ldb, stride_b);
  p.d = matrix(c, c_type, ldc, stride_c);
  p.compute = compute;
  return gemm("cublasGemmStridedBatchedEx", ta, tb, p, alpha, beta, algorithm);
}
