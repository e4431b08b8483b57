//! The machine as regions use it, by topic. A part is a borrow of [`Ctx`], so that it costs nothing; parts that only read share it.

use crate::machine::ctx::Ctx;

/// Defines parts that borrow the machine to change it.
macro_rules! parts {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        pub struct $name<'c, 'a> {
            pub(crate) ctx: &'c mut Ctx<'a>,
        }
    )*};
}

/// Defines parts that only read the machine.
macro_rules! reading_parts {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name<'c, 'a> {
            pub(crate) ctx: &'c Ctx<'a>,
        }
    )*};
}

reading_parts! {
    /// The special registers of position, size and time.
    Ids
    /// Descriptions of objects, operands and registers, for faults.
    Describer
    /// Loads of rows, of lanes and of single elements.
    LoadUnit
}

parts! {
    /// Stores and atomic updates of rows, of lanes and of single elements.
    StoreUnit
    /// Reports to the monitor and to the log of steps.
    Reports
    /// Asynchronous copies, and the delivery of operations in flight.
    AsyncUnit
    /// Barriers, mbarrier objects, the register pool, and the rendezvous of a warp's lanes.
    Synchronisation
    /// Tensor Memory, and the operations of the tensor core.
    TensorUnit
    /// Turns, the step budget, and what ends a launch early.
    Budget
    /// Clusters that start in slots.
    Starts
    /// The fragments of the current warp, where it has diverged.
    WarpFragments
}

impl<'a> Ctx<'a> {
    /// Borrows `Ids`.
    #[inline(always)]
    pub fn ids(&self) -> Ids<'_, 'a> {
        Ids { ctx: self }
    }

    /// Borrows `Describer`.
    #[inline(always)]
    pub fn describe(&self) -> Describer<'_, 'a> {
        Describer { ctx: self }
    }

    /// Borrows `LoadUnit`.
    #[inline(always)]
    pub fn loads(&self) -> LoadUnit<'_, 'a> {
        LoadUnit { ctx: self }
    }

    /// Borrows `StoreUnit`.
    #[inline(always)]
    pub fn stores(&mut self) -> StoreUnit<'_, 'a> {
        StoreUnit { ctx: self }
    }

    /// Borrows `Reports`.
    #[inline(always)]
    pub fn report(&mut self) -> Reports<'_, 'a> {
        Reports { ctx: self }
    }

    /// Borrows `AsyncUnit`.
    #[inline(always)]
    pub fn async_unit(&mut self) -> AsyncUnit<'_, 'a> {
        AsyncUnit { ctx: self }
    }

    /// Borrows `Synchronisation`.
    #[inline(always)]
    pub fn sync(&mut self) -> Synchronisation<'_, 'a> {
        Synchronisation { ctx: self }
    }

    /// Borrows `TensorUnit`.
    #[inline(always)]
    pub fn tensor(&mut self) -> TensorUnit<'_, 'a> {
        TensorUnit { ctx: self }
    }

    /// Borrows `Budget`.
    #[inline(always)]
    pub fn budget(&mut self) -> Budget<'_, 'a> {
        Budget { ctx: self }
    }

    /// Borrows `Starts`.
    #[inline(always)]
    pub fn starts(&mut self) -> Starts<'_, 'a> {
        Starts { ctx: self }
    }

    /// Borrows `WarpFragments`.
    #[inline(always)]
    pub fn fragments(&mut self) -> WarpFragments<'_, 'a> {
        WarpFragments { ctx: self }
    }
}
