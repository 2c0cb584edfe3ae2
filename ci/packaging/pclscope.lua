-- Lmod: put this file as pclscope/0.1.0.lua where modules lie, and set where pclscope was installed or unpacked.
local prefix = "/opt/pclscope"

help([[pclscope shows where, when and why messages of MPI programs are late.
In a job script:   pclscope run -n 128 --dump run.h5 -- ./app      in place of mpirun -n 128 ./app
While it runs:     pclscope watch      Afterwards: pclscope inspect run.h5
What would stop a run here: pclscope doctor]])
whatis("Name: pclscope")
whatis("Description: why is this MPI job slow? Late messages, their regions and causes, live and afterwards")
whatis("Category: performance analysis")

prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("MANPATH", pathJoin(prefix, "share/man"))
prepend_path("CPATH", pathJoin(prefix, "include"))
prepend_path("PKG_CONFIG_PATH", pathJoin(prefix, "lib/pkgconfig"))
prepend_path("CMAKE_PREFIX_PATH", prefix)
setenv("PCLSCOPE_PREFIX", prefix)
-- No LD_PRELOAD here: it would reach every program of the shell. `pclscope run` sets it for the ranks alone.
