//! A CTA pair that deallocates Tensor Memory: Tables 47 and 48 of the manual's page on issue granularity (PTX ISA 9.7.16.5).
//!
//! With `.cta_group::2` a warp of each CTA of the pair executes `tcgen05.dealloc`, and the first of them may or may not wait for
//! the other: hardware decides. `table_47` is right either way. `table_48` waits for its peer in the cluster barrier while the
//! peer may wait for it in `dealloc`: a hang that comes and goes. One run proves nothing. Exploring many schedules finds the
//! deadlock, names the waiting threads, and gives a seed that repeats it.

use ptx_dsl::prelude::*;

ptx! {
    <sm_100a, ptx 8.6>

    .visible .entry table_47()
    .reqntid 32
    .reqnctapercluster 2
    {
        .reg .b32 %taddr;
        .shared .align 4 .b32 tensor;
        tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [tensor], 32;
        ld.shared.b32 %taddr, [tensor];
        // ... work in Tensor Memory ...
        barrier.cluster.arrive;
        barrier.cluster.wait;
        tcgen05.dealloc.cta_group::2.sync.aligned.b32 %taddr, 32;
        exit;
    }
}

ptx! {
    // The compiler warns of this mistake; here it is the point.
    <sm_100a, ptx 8.6, allow(PTX0608)>

    .visible .entry table_48()
    .reqntid 32
    .reqnctapercluster 2
    {
        .reg .pred %odd;
        .reg .b32 %taddr, %rank;
        .shared .align 4 .b32 tensor;
        tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [tensor], 32;
        ld.shared.b32 %taddr, [tensor];
        // ... work in Tensor Memory ...
        mov.u32 %rank, %cluster_ctarank;
        setp.eq.u32 %odd, %rank, 1;
        @%odd bra odd;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        tcgen05.dealloc.cta_group::2.sync.aligned.b32 %taddr, 32;
        exit;
    odd:
        tcgen05.dealloc.cta_group::2.sync.aligned.b32 %taddr, 32;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        exit;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pair = || Launch::grid(2).block(32);
    let schedules = 64;

    Host::new().explore(schedules).run(|host| table_47.launch(host, pair(), ()))?;
    println!("Table 47: clean on each of {schedules} schedules.");

    table_48.launch(&Host::new(), pair(), ())?;
    println!("Table 48: one run shows nothing.");
    match Host::new().explore(schedules).run(|host| table_48.launch(host, pair(), ())) {
        Err(ptx_dsl::Error::Fault(fault)) => {
            println!("Table 48: {schedules} schedules find this:\n\n{fault}\n");
            let again = Host::new().replay(fault.schedule.clone());
            assert!(table_48.launch(&again, pair(), ()).is_err(), "the decisions repeat the hang");
            println!("and the decisions {:?} repeat it.", fault.schedule);
            Ok(())
        }
        Err(error) => Err(error.into()),
        Ok(_) => Err("the hang of Table 48 was not found".into()),
    }
}
