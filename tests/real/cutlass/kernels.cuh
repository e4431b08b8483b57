// How kernels of CUTLASS are put together: its own choice of stages, of the epilogue's tile, and of the schedule where none is named.

#pragma once
#include <cutlass/cutlass.h>
#include <cutlass/device_kernel.h>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/kernel/gemm_universal.hpp>
#include <cutlass/gemm/kernel/tile_scheduler.hpp>

namespace real {

using cute::Shape, cute::_1, cute::_2, cute::_4, cute::_32, cute::_64, cute::_128, cute::_256;
using Rows = cutlass::layout::RowMajor;
using Columns = cutlass::layout::ColumnMajor;

template <class T> constexpr int aligned = 128 / cutlass::sizeof_bits<T>::value;

// A is row-major, B column-major, the result row-major.
template <class Arch, class Class, class A, int AlignA, class B, int AlignB, class C, class Tile, class Cluster,
          class Loop = cutlass::gemm::collective::KernelScheduleAuto,
          class Store = cutlass::epilogue::collective::EpilogueScheduleAuto, class Scheduler = void>
struct General {
    using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
        Arch, Class, Tile, Cluster, cutlass::epilogue::collective::EpilogueTileAuto, float, float, C, Rows, aligned<C>, C, Rows,
        aligned<C>, Store>::CollectiveOp;
    using Main = typename cutlass::gemm::collective::CollectiveBuilder<
        Arch, Class, A, Rows, AlignA, B, Columns, AlignB, float, Tile, Cluster,
        cutlass::gemm::collective::StageCountAutoCarveout<int(sizeof(typename Epilogue::SharedStorage))>, Loop>::CollectiveOp;
    using Kernel = cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, Main, Epilogue, Scheduler>;
};

template <class Arch, class A, class B, class C, class Tile, class Cluster, class... Rest>
using Dense = typename General<Arch, cutlass::arch::OpClassTensorOp, A, aligned<A>, B, aligned<B>, C, Tile, Cluster, Rest...>::Kernel;

template <class Arch, class A, int AlignA, class B, int AlignB, class C, class Tile, class Cluster, class... Rest>
using Scaled = typename General<Arch, cutlass::arch::OpClassBlockScaledTensorOp, A, AlignA, B, AlignB, C, Tile, Cluster, Rest...>::Kernel;

// Instantiates kernels; nobody launches them.
template <class... Kernels> void* const* all() {
    static void* const kernels[] = {reinterpret_cast<void*>(cutlass::device_kernel<Kernels>)...};
    return kernels;
}

}  // namespace real
