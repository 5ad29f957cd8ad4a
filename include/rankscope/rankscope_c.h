/* The C interface of librankscope.so: open a trace or a run, read its tables as Arrow streams.
 *
 * Symbols are versioned. Functions are only added, and existing symbols keep their meaning
 * (docs/embedding.md). No function prints, ends the process, installs a signal handler or lets a
 * C++ exception out. NULL arguments are errors, not crashes.
 *
 * Threads: any function may be called from any thread. Calls that use one run, its tables or their
 * streams wait for each other. After a fork() the child must not use runs of the parent.
 */
#ifndef RANKSCOPE_RANKSCOPE_C_H
#define RANKSCOPE_RANKSCOPE_C_H

#include <stdint.h>

#if defined(__GNUC__)
#define RANKSCOPE_API __attribute__((visibility("default")))
#else
#define RANKSCOPE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The Arrow C data interface (https://arrow.apache.org/docs/format/CDataInterface.html). Its
 * specification asks every user to repeat these definitions under these guards. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};

#endif /* ARROW_C_DATA_INTERFACE */

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};

#endif /* ARROW_C_STREAM_INTERFACE */

/* Return values of functions: 0, or the exit code of the command line for the same failure. */
#define RANKSCOPE_OK 0
#define RANKSCOPE_USAGE 2         /* a wrong argument, option, table name or statement */
#define RANKSCOPE_INPUT 3         /* a trace that cannot be read; out of memory */
#define RANKSCOPE_OUTPUT 6        /* a file that cannot be written */
#define RANKSCOPE_MISSING_TOOL 7  /* DuckDB's library, which SQL and views need */
#define RANKSCOPE_INTERNAL 70     /* a bug of rankscope */
#define RANKSCOPE_INTERRUPTED 130 /* reserved */

typedef struct rankscope_run rankscope_run;     /* a trace, the ranks of a run, or a sweep */
typedef struct rankscope_table rankscope_table; /* keeps its run open */

/* Returns the version, for example "0.1.0"; the text is never freed. */
RANKSCOPE_API const char* rankscope_version(void);

/* Returns one line about the last failure in this thread, "" before the first failure. The text
 * is valid until the next failure in this thread. */
RANKSCOPE_API const char* rankscope_last_error(void);

/* Finds the traces below `inputs` (files and folders, like the inputs of `rankscope query`) but
 * does not read them yet. Both lists end with NULL; `options` may be NULL. An option is
 * "name=value". The names are those of flags of `rankscope query`: jobs, cache (a folder or
 * "none"), gpu-arch, gpus-per-node, memory-mib, trace-name, step, trace-pattern, rank-regex,
 * config-regex, require-all-ranks=1, files-as-runs=1. On failure *run is NULL. */
RANKSCOPE_API int rankscope_open(const char* const* inputs, const char* const* options,
                                 rankscope_run** run);

/* Closes the run, which must not be used afterwards; its tables and streams remain valid. NULL
 * does nothing. */
RANKSCOPE_API void rankscope_close(rankscope_run* run);

/* Sets *table to the list of tables that rankscope_run_table() knows: columns name, kind and
 * help. The list is equal for all runs. Tables of the kind "view" need DuckDB. */
RANKSCOPE_API int rankscope_tables(rankscope_table** table);

/* Sets *table to the table `name`, with the rows of `rankscope query 'FROM name'`. Traces are
 * read when a table needs them, once for all tables, and remain in memory. On failure *table is
 * NULL. */
RANKSCOPE_API int rankscope_run_table(rankscope_run* run, const char* name,
                                      rankscope_table** table);

/* Sets *table to the rows of one SQL statement over these tables. The statement cannot read or
 * write files. */
RANKSCOPE_API int rankscope_run_query(rankscope_run* run, const char* sql, rankscope_table** table);

/* Returns the number of rows; -1 for NULL. */
RANKSCOPE_API int64_t rankscope_table_rows(const rankscope_table* table);

/* Fills *stream with the rows as record batches; each stream begins at the first row. Integers
 * are int64, numbers float64, texts large_utf8, flags bool; all are nullable. The metadata of a
 * field are its label, unit and help, if available. The caller releases the stream, which may
 * outlive table and run. */
RANKSCOPE_API int rankscope_table_stream(const rankscope_table* table,
                                         struct ArrowArrayStream* stream);

/* Returns the stream of rankscope_table_stream() as a PyCapsule "arrow_array_stream", for
 * Python's __arrow_c_stream__: a new reference, or NULL. The calling thread must have the
 * interpreter's lock. The call fails if the process has no Python. */
RANKSCOPE_API void* rankscope_table_capsule(const rankscope_table* table);

/* Sets *json to the rows, as the JSON document that docs/json.md describes. It includes the
 * problems of the run so far: lost data and lost ranks. For findings as JSON, use the table
 * "findings". The caller frees *json with rankscope_free(). */
RANKSCOPE_API int rankscope_table_json(const rankscope_table* table, char** json);

/* Frees a text or a table. NULL does nothing. */
RANKSCOPE_API void rankscope_free(char* text);
RANKSCOPE_API void rankscope_table_free(rankscope_table* table);

#ifdef __cplusplus
}
#endif

#endif /* RANKSCOPE_RANKSCOPE_C_H */
