// cuda::std: tuples, optionals, variants, spans, views of many dimensions, complex numbers, algorithms, numbers, chrono.

#include <cuda/functional>
#include <cuda/std/algorithm>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/chrono>
#include <cuda/std/cmath>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/mdspan>
#include <cuda/std/numeric>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/utility>
#include <cuda/std/variant>

namespace std_ = cuda::std;

__device__ std_::optional<int> find(std_::span<const int> s, int wanted) {
    auto it = std_::find(s.begin(), s.end(), wanted);
    return it == s.end() ? std_::nullopt : std_::optional<int>(int(it - s.begin()));
}

__global__ void values(int* out, const int* in, int n) {
    std_::array<int, 16> a{};
    std_::copy(in, in + 16, a.begin());
    for (int i = 0; i < 15; i++) if (a[i] > a[i + 1]) std_::swap(a[i], a[i + 1]);
    out[0] = find({in, std_::size_t(n)}, 42).value_or(-1) + std_::accumulate(a.begin(), a.end(), 0);
    auto t = std_::make_tuple(n, 2.5f, a[3]);
    auto [x, y, z] = t;
    out[1] = x + int(y) + z + std_::get<0>(t);
    std_::variant<int, float, std_::array<int, 3>> v;
    if (n > 3) v = 1.5f;
    else if (n > 2) v = std_::array<int, 3>{n, 2, 3};
    out[2] = std_::visit([](auto& item) -> int { if constexpr (sizeof(item) > 4) return item[1]; else return int(item); }, v);
    out[3] = std_::popcount(unsigned(n)) + std_::countl_zero(unsigned(n)) + std_::rotl(unsigned(n), 5) + std_::bit_width(unsigned(n));
    out[4] = *std_::max_element(in, in + n) + std_::gcd(n, 36) + *std_::lower_bound(a.begin(), a.end(), n);
    std_::pair<int, double> p = std_::minmax(n, 4).first > 2 ? std_::pair{1, 2.0} : std_::pair{3, 4.0};
    out[5] = p.first + int(p.second) + std_::numeric_limits<int>::max();
    auto now = std_::chrono::system_clock::now();
    auto then = std_::chrono::high_resolution_clock::now() - std_::chrono::milliseconds(n);
    out[6] = int((now.time_since_epoch().count() ^ then.time_since_epoch().count()) & 0xffff);
    out[7] = int(std_::bit_cast<unsigned>(y)) + cuda::maximum<>{}(n, 5);
}

__global__ void numbers(float* data, std_::complex<float>* c, std_::complex<double>* z, int rows, int columns) {
    std_::mdspan<float, std_::dextents<int, 2>> view(data, rows, columns);
    std_::mdspan<float, std_::extents<int, 4, std_::dynamic_extent>, std_::layout_left> left(data, rows);
    for (int i = 0; i < view.extent(0); i++)
        for (int j = threadIdx.x; j < view.extent(1); j += blockDim.x) view(i, j) += left(i & 3, j % rows) * 2;
    c[0] = c[1] * c[2] / c[3] + std_::conj(c[4]);
    c[5] = std_::exp(c[6]) + std_::sqrt(c[7]) + std_::polar(2.f, std_::arg(c[8]));
    z[0] = std_::pow(z[1], z[2]) + std_::log(z[3]) * std_::abs(z[4]);
    data[0] = std_::hypot(data[1], data[2]) + std_::lerp(data[3], data[4], .5f) + std_::fma(data[5], 2.f, 1.f);
}
