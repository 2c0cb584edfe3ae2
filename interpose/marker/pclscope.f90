! Names parts of an MPI program for pclscope: phases, and the iterations of a loop (docs/markers.md). To be compiled
! with the program:
!
!     use pclscope
!     call pclscope_begin('solve')
!     do step = 1, steps
!       call pclscope_iteration('step', step)
!       ...
!     end do
!     call pclscope_end('step')
!     call pclscope_end('solve')
!
! Nothing is linked: the program looks for the preloaded library at its first marker, and where there is none a marker
! does nothing. (C libraries before glibc 2.34 have dlsym in a library of its own: there link with -ldl.)
module pclscope
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: pclscope_begin, pclscope_end, pclscope_iteration

  abstract interface
    subroutine marker_function(kind, name, length, number) bind(C)
      import :: c_int, c_char, c_long, c_long_long
      integer(c_int), value :: kind
      character(kind=c_char), intent(in) :: name(*)
      integer(c_long), value :: length
      integer(c_long_long), value :: number
    end subroutine
  end interface

  interface
    function look_up(handle, name) bind(C, name='dlsym') result(found)
      import :: c_ptr, c_char, c_funptr
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr) :: found
    end function
  end interface

  interface pclscope_iteration
    module procedure iteration_4, iteration_8
  end interface

  procedure(marker_function), pointer, save :: marker => null()
  logical, save :: looked = .false.

contains

  subroutine mark(kind, name, number)
    integer(c_int), intent(in) :: kind
    character(len=*), intent(in) :: name
    integer(c_long_long), intent(in) :: number
    type(c_funptr) :: found

    if (.not. looked) then
      found = look_up(c_null_ptr, 'pclscope_marker' // c_null_char)
      if (c_associated(found)) call c_f_procpointer(found, marker)
      looked = .true.
    end if
    if (associated(marker)) call marker(kind, name, int(len(name), c_long), number)
  end subroutine

  ! A part of the program begins, and ends. Parts may lie in each other and overlap.
  subroutine pclscope_begin(name)
    character(len=*), intent(in) :: name
    call mark(1_c_int, name, 0_c_long_long)
  end subroutine

  subroutine pclscope_end(name)
    character(len=*), intent(in) :: name
    call mark(2_c_int, name, 0_c_long_long)
  end subroutine

  ! Iteration `number` begins; it ends with the next one of that name, or with pclscope_end.
  subroutine iteration_4(name, number)
    character(len=*), intent(in) :: name
    integer(c_int), intent(in) :: number
    call mark(3_c_int, name, int(number, c_long_long))
  end subroutine

  subroutine iteration_8(name, number)
    character(len=*), intent(in) :: name
    integer(c_long_long), intent(in) :: number
    call mark(3_c_int, name, number)
  end subroutine

end module
