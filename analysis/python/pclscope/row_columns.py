"""The columns of messages(), timeline() and collectives(): the unit of each, and what it is made of."""

# Of each column of messages(), timeline() and collectives(): its unit, and the columns as stored that it is made of.
TIMES = ("send_begin", "send_end", "recv_post", "recv_wait", "recv_end")
MESSAGE_COLUMNS = {
    "source": ("rank", ("source",)), "destination": ("rank", ("destination",)), "tag": ("1", ("tag",)),
    "comm": ("id", ("comm",)), "bytes": ("bytes", ("bytes",)), "start_s": ("s", ("send_begin",)),
    "time_s": ("s", ("send_begin", "recv_end")), "ratio": ("1", ("bytes", "flags", "send_begin", "recv_end")),
    "late_sender_s": ("s", ("flags", *TIMES)), "late_receiver_s": ("s", ("flags", *TIMES)),
    "transfer_s": ("s", ("flags", *TIMES)), "overlapped_s": ("s", ("flags", *TIMES)),
    "delayed": ("0 or 1", ("bytes", "flags", "send_begin", "recv_end")), "inter_node": ("0 or 1", ("flags",)),
    "clock_violation": ("0 or 1", ("flags",)), "completion_seen": ("0 or 1", ("flags",)),
    "send_site": ("", ("send_site",)), "recv_site": ("", ("recv_site",)), "clock_unclear": ("0 or 1", ("flags",)),
    "clock_error_ns": ("ns", ("flags", "source", "destination", "send_begin", "recv_end")),
    "send_end_s": ("s", ("send_end",)), "recv_post_s": ("s", ("recv_post",)), "recv_wait_s": ("s", ("recv_wait",)),
    "recv_end_s": ("s", ("recv_end",)),
}
CALL_COLUMNS = {
    "rank": ("rank", ("rank",)), "thread": ("1", ("thread",)), "function": ("", ("function",)),
    "begin_s": ("s", ("begin",)), "duration_s": ("s", ("begin", "end", "ending")), "ending": ("", ("ending",)),
    "outside_s": ("s", ("outside",)), "peer": ("rank", ("peer",)), "several_peers": ("0 or 1", ("peer",)),
    "comm": ("id", ("comm",)), "bytes": ("bytes", ("bytes",)), "site": ("", ("site",)),
}
COLLECTIVE_COLUMNS = {
    "rank": ("rank", ("rank",)), "function": ("", ("function",)), "comm": ("id", ("comm",)),
    "ordinal": ("1", ("ordinal",)), "begin_s": ("s", ("begin",)), "end_s": ("s", ("end",)),
    "awaited": ("rank", ("awaited",)), "awaited_begin_s": ("s", ("awaited_begin",)),
    "wait_s": ("s", ("awaited", "awaited_begin", "begin", "end", "nonblocking", "completing")),
    "nonblocking": ("0 or 1", ("nonblocking",)), "bytes": ("bytes", ("bytes",)), "site": ("", ("site",)),
    "shape": ("id", ("shape",)),
}
