"""The families of causes, and of health: a module per topic, each with its FAMILIES. A family makes a Case from a
random generator, with its own ranks, sizes and times."""
from families import collectives, ends, exchange, files, healthy, network, one_sided, pairs, pipelines
from families.case import CROWDED, NODES, Case, Family  # noqa: F401

ALL = {name: family for topic in (healthy, network, exchange, pairs, pipelines, collectives, one_sided, files, ends)
       for name, family in topic.FAMILIES.items()}

# The short form begins with one of each line, chosen by the seed.
FIRST = [("healthy_halo", "healthy_sparse", "healthy_neighbours", "healthy_bursty", "healthy_output"),
         ("healthy_ping_pong", "healthy_pipeline", "healthy_wavefront", "healthy_startup"),
         ("healthy_farm", "healthy_farm_probe", "healthy_overlap", "healthy_polling", "healthy_collective",
          "healthy_fence"),
         ("healthy_nodes",), ("bad_placement",), ("throttled_link", "competing_job", "outage"),
         ("slow_rank", "uneven_cells", "waitany", "waitsome", "mixed"),
         ("uneven_blocks", "many_to_one_big", "many_to_one_reply", "chain"),
         ("test_loop", "testall_loop", "iprobe_loop", "probe_receive"),
         ("late_receiver",), ("collective", "late_for_all", "serial_section", "serial_output"),
         ("fence_late", "late_post", "late_complete", "lock_held"),
         ("write_all_late", "serialised_writes", "slow_writes"), ("late_init", "late_finalize")]
