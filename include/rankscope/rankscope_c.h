/* The C interface of librankscope.so: open a trace or a run, read its tables as Arrow streams.
 *
 * Symbols are versioned; functions are only added, and what is here keeps its meaning
 * (docs/embedding.md). Nothing here prints, ends the process, installs a signal handler or lets a
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

/* What functions return: 0, or the exit code that the command line has for the same failure. */
#define RANKSCOPE_OK 0
#define RANKSCOPE_USAGE 2         /* a wrong argument, option, table name or statement */
#define RANKSCOPE_INPUT 3         /* a trace that cannot be read; out of memory */
#define RANKSCOPE_OUTPUT 6        /* a file that cannot be written */
#define RANKSCOPE_MISSING_TOOL 7  /* DuckDB's library, which SQL and views need */
#define RANKSCOPE_INTERNAL 70     /* a bug of rankscope */
#define RANKSCOPE_INTERRUPTED 130 /* reserved */

typedef struct rankscope_run rankscope_run;     /* a trace, the ranks of a run, or a sweep */
typedef struct rankscope_table rankscope_table; /* keeps its run open */

/* "0.1.0"; never freed. */
RANKSCOPE_API const char* rankscope_version(void);

/* One line about the last failure in this thread, "" before the first; valid until the next
 * failure in this thread. */
RANKSCOPE_API const char* rankscope_last_error(void);

/* Finds the traces below `inputs` (files and folders, as `rankscope query` takes them) and reads
 * none yet. Both lists end with NULL; `options` may be NULL. An option is "name=value", the name
 * that of the flag of `rankscope query`: jobs, cache (a folder or "none"), gpu-arch, gpus-per-node,
 * memory-mib, trace-name, step, trace-pattern, rank-regex, config-regex, require-all-ranks=1,
 * files-as-runs=1. On failure *run is NULL. */
RANKSCOPE_API int rankscope_open(const char* const* inputs, const char* const* options,
                                 rankscope_run** run);

/* The run must not be used afterwards; its tables and streams remain valid. NULL does nothing. */
RANKSCOPE_API void rankscope_close(rankscope_run* run);

/* Every table that rankscope_run_table() gives: columns name, kind and help. The same for all
 * runs. Kind "view": needs DuckDB. */
RANKSCOPE_API int rankscope_tables(rankscope_table** table);

/* A table by name: the rows of `rankscope query 'FROM name'`. Traces are read when a table needs
 * them, once for all tables, and remain in memory. On failure *table is NULL. */
RANKSCOPE_API int rankscope_run_table(rankscope_run* run, const char* name,
                                      rankscope_table** table);

/* The rows of one SQL statement over these tables. It can read and write no files. */
RANKSCOPE_API int rankscope_run_query(rankscope_run* run, const char* sql, rankscope_table** table);

/* -1 for NULL. */
RANKSCOPE_API int64_t rankscope_table_rows(const rankscope_table* table);

/* The rows as record batches, each time from the first. Integers are int64, numbers float64,
 * texts large_utf8, flags bool; all are nullable. The metadata of a field are its label, unit and
 * help, where it has them. The caller releases the stream; it may outlive table and run. */
RANKSCOPE_API int rankscope_table_stream(const rankscope_table* table,
                                         struct ArrowArrayStream* stream);

/* The same stream as a PyCapsule "arrow_array_stream", which Python's __arrow_c_stream__ returns: a
 * new reference, or NULL. The calling thread has the interpreter's lock. It is an error where the
 * process has no Python. */
RANKSCOPE_API void* rankscope_table_capsule(const rankscope_table* table);

/* The rows as the document that docs/json.md describes, with the problems of the run so far: what
 * was lost, and which ranks. Findings as JSON are the table "findings". The caller frees *json
 * with rankscope_free(). */
RANKSCOPE_API int rankscope_table_json(const rankscope_table* table, char** json);

/* NULL does nothing. */
RANKSCOPE_API void rankscope_free(char* text);
RANKSCOPE_API void rankscope_table_free(rankscope_table* table);

#ifdef __cplusplus
}
#endif

#endif /* RANKSCOPE_RANKSCOPE_C_H */
