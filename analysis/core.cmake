# The analysis proper: events in, messages, windows, regions and snapshots out. Eigen only.
add_library(pclscope_core STATIC
  pipeline/pipeline.cpp pipeline/pipeline_findings.cpp pipeline/pipeline_nodes.cpp pipeline/pipeline_snapshot.cpp
  pipeline/pipeline_windows.cpp
  match/channel_table.cpp match/collectives.cpp match/doubt.cpp match/matcher.cpp match/order.cpp
  match/races.cpp match/receives.cpp match/unrecorded.cpp
  match/pairing.cpp match/queries.cpp match/remote.cpp match/wildcards.cpp
  blocked/blocked.cpp blocked/call_kind.cpp blocked/current_call.cpp blocked/deadlock_text.cpp
  blocked/function_times.cpp blocked/participants.cpp blocked/process_tasks.cpp blocked/rank_waits.cpp
  blocked/wait_graph.cpp
  criteria/criteria.cpp
  delay/blame_sum.cpp delay/calls_of_ranks.cpp delay/critical_path.cpp delay/delay_report.cpp delay/delays.cpp
  delay/excess.cpp delay/first_come.cpp delay/origins.cpp
  nodes/job_sites.cpp nodes/memory_link.cpp nodes/node.cpp nodes/node_halves.cpp nodes/report_tree.cpp nodes/root.cpp
  order/clock_propagation.cpp order/clocks.cpp order/dag_builder.cpp order/dag_dot.cpp order/dag_links.cpp
  order/event_order.cpp order/fold.cpp order/job_clocks.cpp
  attribute/attributor.cpp attribute/better_mapping.cpp attribute/exposure.cpp attribute/findings.cpp
  attribute/guilty.cpp attribute/network.cpp attribute/replay.cpp attribute/shapes.cpp attribute/slices.cpp
  attribute/spells.cpp attribute/words.cpp
  callsite/site_sums.cpp callsite/sites_in.cpp
  window/activity.cpp window/evolution.cpp window/node_links.cpp window/noise_scale.cpp window/open_windows.cpp
  window/period_list.cpp window/piece_fit.cpp window/evolutions.cpp window/packed_messages.cpp window/ramp_ends.cpp
  window/recent_messages.cpp window/region_series.cpp window/retention.cpp window/retention_periods.cpp
  window/trend_labels.cpp window/worst.cpp
  region/canonical_order.cpp region/coarsen.cpp region/change.cpp region/cluster_component.cpp region/communities.cpp
  region/dendrogram.cpp region/find_regions.cpp region/free_energy.cpp region/graph.cpp region/linkage.cpp
  region/method.cpp
  region/modularity.cpp region/printed_distances.cpp region/refine.cpp region/region_tree.cpp region/tracker.cpp)
pclscope_unity_folders(pclscope_core)
pclscope_precompile(pclscope_core)
target_link_libraries(pclscope_core PUBLIC Eigen3::Eigen)
target_compile_options(pclscope_core PUBLIC ${PCLSCOPE_SANITIZE_FLAGS} PRIVATE ${PCLSCOPE_COMPUTING_FLAGS})
target_link_options(pclscope_core PUBLIC ${PCLSCOPE_SANITIZE_FLAGS})
