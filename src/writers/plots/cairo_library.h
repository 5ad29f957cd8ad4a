// Cairo and libpng, which are opened when the first plot is drawn. Loading Cairo with its libraries
// for fonts and windows takes longer than loading rankscope.
#pragma once

#include "os/library_calls.h"

#include <cairo.h>
#include <png.h>

// every Cairo function that rankscope calls
#define RANKSCOPE_CAIRO_CALLS(RS_CALL)                                                             \
  RS_CALL(cairo_close_path)                                                                        \
  RS_CALL(cairo_create)                                                                            \
  RS_CALL(cairo_destroy)                                                                           \
  RS_CALL(cairo_fill)                                                                              \
  RS_CALL(cairo_font_options_create)                                                               \
  RS_CALL(cairo_font_options_destroy)                                                              \
  RS_CALL(cairo_font_options_set_antialias)                                                        \
  RS_CALL(cairo_image_surface_create)                                                              \
  RS_CALL(cairo_image_surface_get_data)                                                            \
  RS_CALL(cairo_image_surface_get_stride)                                                          \
  RS_CALL(cairo_line_to)                                                                           \
  RS_CALL(cairo_move_to)                                                                           \
  RS_CALL(cairo_paint)                                                                             \
  RS_CALL(cairo_rectangle)                                                                         \
  RS_CALL(cairo_restore)                                                                           \
  RS_CALL(cairo_rotate)                                                                            \
  RS_CALL(cairo_save)                                                                              \
  RS_CALL(cairo_select_font_face)                                                                  \
  RS_CALL(cairo_set_font_options)                                                                  \
  RS_CALL(cairo_set_font_size)                                                                     \
  RS_CALL(cairo_set_line_join)                                                                     \
  RS_CALL(cairo_set_line_width)                                                                    \
  RS_CALL(cairo_set_source_rgb)                                                                    \
  RS_CALL(cairo_show_text)                                                                         \
  RS_CALL(cairo_status)                                                                            \
  RS_CALL(cairo_status_to_string)                                                                  \
  RS_CALL(cairo_stroke)                                                                            \
  RS_CALL(cairo_surface_destroy)                                                                   \
  RS_CALL(cairo_surface_flush)                                                                     \
  RS_CALL(cairo_text_extents)                                                                      \
  RS_CALL(cairo_translate)
#define RANKSCOPE_PNG_CALLS(RS_CALL)                                                               \
  RS_CALL(png_image_free)                                                                          \
  RS_CALL(png_image_write_to_memory)

namespace rankscope {

/// The functions of Cairo, with their original names.
struct CairoLibrary {
  RANKSCOPE_CAIRO_CALLS(RS_LIBRARY_MEMBER)

  /// Returns the library. The first call opens it; it stays open until the program ends.
  /// Thread-safe. Errors: kMissingTool.
  [[nodiscard]] static Result<const CairoLibrary*> get();
};

struct PngLibrary {
  RANKSCOPE_PNG_CALLS(RS_LIBRARY_MEMBER)

  /// Returns the library, opened as Cairo is, which needs it too. Errors: kMissingTool.
  [[nodiscard]] static Result<const PngLibrary*> get();
};

} // namespace rankscope
