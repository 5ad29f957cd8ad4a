// Simulates libamdhip64, librocblas and libhipblaslt of a machine with one MI300X. All three names
// load one file, so that they share a clock.
#define GPU(name) hip##name
#define LIGHT(name) hipblasLt##name

#include <cstddef>

namespace {
struct Values {
  static constexpr int kTransA = 0, kTransB = 1, kBatchCount = 0, kBatchStride = 1;
  static constexpr int kTranspose = 112, kInvalid = 3, kNotSupported = 7;
  static constexpr std::size_t kWorkspaceAt = 24, kResultBytes = 56;
  static constexpr const char* kMatmul = "hipblasLtMatmul";
};
} // namespace

#include "fake_gpu.h"

namespace {
int rocblas_bytes(int type) {
  return type == 150 || type == 168   ? 2
         : type == 151 || type == 162 ? 4
         : type == 152                ? 8
         : type == 160                ? 1
                                      : 0;
}
fake::Matrix matrix(const void* data, int type, long long ld, long long stride) {
  return {data, type, rocblas_bytes(type), 0, 0, ld, stride};
}
int gemm(const char* function, int ta, int tb, const fake::Product& sizes, const void* alpha,
         const void* beta, int algorithm, int solution, unsigned flags) {
  fake::Product p = sizes;
  p.function = function;
  p.ta = ta == 112;
  p.tb = tb == 112;
  if ((ta != 111 && ta != 112) || (tb != 111 && tb != 112) || algorithm != 0 || solution != 0 ||
      flags != 0)
    return 11; // invalid value
  const char scale = p.compute == 152 ? 'd' : p.compute == 150 ? 'h' : p.compute == 162 ? 'i' : 's';
  p.alpha = fake::scalar(alpha, scale);
  p.beta = fake::scalar(beta, scale);
  p.a.rows = p.ta ? p.k : p.m;
  p.a.cols = p.ta ? p.m : p.k;
  p.b.rows = p.tb ? p.n : p.k;
  p.b.cols = p.tb ? p.k : p.n;
  p.c.rows = p.d.rows = p.m;
  p.c.cols = p.d.cols = p.n;
  return fake::multiply(p) ? 0 : 11;
}
} // namespace

FAKE int hipGetDevicePropertiesR0600(void* properties, int) {
  std::strcpy(static_cast<char*>(properties), "Fake MI300X");
  std::strcpy(static_cast<char*>(properties) + 1160, "gfx942:sramecc+:xnack-");
  return 0;
}
FAKE int rocblas_create_handle(void** handle) {
  *handle = &fake::gpu;
  return 0;
}
FAKE int rocblas_destroy_handle(void*) {
  return 0;
}
FAKE int rocblas_gemm_ex(void*, int ta, int tb, int m, int n, int k, const void* alpha,
                         const void* a, int a_type, int lda, const void* b, int b_type, int ldb,
                         const void* beta, const void* c, int c_type, int ldc, void* d, int d_type,
                         int ldd, int compute, int algorithm, std::int32_t solution,
                         std::uint32_t flags) {
  fake::Product p = {};
  p.m = m;
  p.n = n;
  p.k = k;
  p.batch = 1;
  p.a = matrix(a, a_type, lda, 0);
  p.b = matrix(b, b_type, ldb, 0);
  p.c = matrix(c, c_type, ldc, 0);
  p.d = matrix(d, d_type, ldd, 0);
  p.compute = compute;
  return gemm("rocblas_gemm_ex", ta, tb, p, alpha, beta, algorithm, solution, flags);
}
FAKE int rocblas_gemm_strided_batched_ex(void*, int ta, int tb, int m, int n, int k,
                                         const void* alpha, const void* a, int a_type, int lda,
                                         std::int64_t stride_a, const void* b, int b_type, int ldb,
                                         std::int64_t stride_b, const void* beta, const void* c,
                                         int c_type, int ldc, std::int64_t stride_c, void* d,
                                         int d_type, int ldd, std::int64_t stride_d, int batch,
                                         int compute, int algorithm, std::int32_t solution,
                                         std::uint32_t flags) {
  fake::Product p = {};
  p.m = m;
  p.n = n;
  p.k = k;
  p.batch = batch;
  p.a = matrix(a, a_type, lda, stride_a);
  p.b = matrix(b, b_type, ldb, stride_b);
  p.c = matrix(c, c_type, ldc, stride_c);
  p.d = matrix(d, d_type, ldd, stride_d);
  p.compute = compute;
  return gemm("rocblas_gemm_strided_batched_ex", ta, tb, p, alpha, beta, algorithm, solution,
              flags);
}
