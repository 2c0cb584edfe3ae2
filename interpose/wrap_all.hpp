// Everything that the generated wrappers call.
#pragma once

#include "interpose/callbacks.hpp"
#include "interpose/wrap_collective.hpp"
#include "interpose/wrap_communicator.hpp"
#include "interpose/wrap_completion.hpp"
#include "interpose/wrap_control.hpp"
#include "interpose/wrap_file.hpp"
#include "interpose/wrap_p2p.hpp"
#include "interpose/wrap_partitioned.hpp"
#include "interpose/wrap_probe.hpp"
#include "interpose/wrap_rma.hpp"
#include "interpose/wrap_session.hpp"
#include "interpose/wrap_start.hpp"
#include "interpose/wrap_world.hpp"
