/* tables RUN: prints the number of rows and columns of every table of a run, with the C interface.
 * Views are left out, because they need DuckDB's library. */
#include <rankscope/rankscope_c.h>
#include <stdio.h>

/* Prints "name: rows x columns". */
static int print_size(rankscope_run* run, const char* name) {
  rankscope_table* table = NULL;
  struct ArrowArrayStream stream;
  struct ArrowSchema schema;
  if (rankscope_run_table(run, name, &table) != RANKSCOPE_OK ||
      rankscope_table_stream(table, &stream) != RANKSCOPE_OK) {
    fprintf(stderr, "tables: %s\n", rankscope_last_error());
    rankscope_table_free(table);
    return 1;
  }
  if (stream.get_schema(&stream, &schema) == 0) {
    printf("%s: %lld x %lld\n", name, (long long)rankscope_table_rows(table),
           (long long)schema.n_children);
    schema.release(&schema);
  }
  stream.release(&stream);
  rankscope_table_free(table);
  return 0;
}

/* Returns the text of a row of a text column without NULL; sets `size` to its length. */
static const char* text_at(const struct ArrowArray* column, int64_t row, int* size) {
  const int64_t* ends = (const int64_t*)column->buffers[1];
  *size = (int)(ends[row + 1] - ends[row]);
  return (const char*)column->buffers[2] + ends[row];
}

int main(int argc, char** argv) {
  const char* inputs[2] = {NULL, NULL};
  rankscope_run* run = NULL;
  rankscope_table* list = NULL;
  struct ArrowArrayStream stream;
  struct ArrowArray batch;
  int failed = 0;
  if (argc != 2) {
    fputs("usage: tables RUN\n", stderr);
    return RANKSCOPE_USAGE;
  }
  inputs[0] = argv[1];
  int code = rankscope_open(inputs, NULL, &run);
  if (code == RANKSCOPE_OK)
    code = rankscope_tables(&list);
  if (code == RANKSCOPE_OK)
    code = rankscope_table_stream(list, &stream);
  if (code != RANKSCOPE_OK) {
    fprintf(stderr, "tables: %s\n", rankscope_last_error());
    rankscope_table_free(list);
    rankscope_close(run);
    return code;
  }
  while (stream.get_next(&stream, &batch) == 0 && batch.release != NULL) {
    for (int64_t row = 0; row < batch.length; ++row) {
      char name[128];
      int size = 0;
      const char* text = text_at(batch.children[0], row, &size);
      snprintf(name, sizeof name, "%.*s", size, text);
      text = text_at(batch.children[1], row, &size);
      if (size != 4 || text[0] != 'v') /* "view" */
        failed |= print_size(run, name);
    }
    batch.release(&batch);
  }
  stream.release(&stream);
  rankscope_table_free(list);
  rankscope_close(run);
  return failed;
}
