// Everything that the generated wrappers call.
#pragma once

#include "interpose/wrap/callbacks.hpp"
#include "interpose/wrap/wrap_collective.hpp"
#include "interpose/wrap/wrap_communicator.hpp"
#include "interpose/wrap/wrap_completion.hpp"
#include "interpose/wrap/wrap_control.hpp"
#include "interpose/wrap/wrap_file.hpp"
#include "interpose/wrap/wrap_p2p.hpp"
#include "interpose/wrap/wrap_partitioned.hpp"
#include "interpose/wrap/wrap_probe.hpp"
#include "interpose/wrap/wrap_rma.hpp"
#include "interpose/wrap/wrap_session.hpp"
#include "interpose/wrap/wrap_start.hpp"
#include "interpose/wrap/wrap_world.hpp"
