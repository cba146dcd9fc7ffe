// Names for ThreadSanitizer's reports, found in the process itself; scripts/sanitizers links it into every daemon that it builds for it.
//
// ThreadSanitizer starts llvm-symbolizer for names, and compares them with the suppressions. A confined process starts no program
// (docs/privileges.md), so that its reports would have no names and no suppression would match. The functions below are those that
// ThreadSanitizer asks instead where a program has them. They look into the symbol tables of the program and its libraries, which are mapped
// before `main`: later a process may open few files. A table of symbols has neither lines nor functions that were inlined, of which a debug
// build has few: scripts/sanitizers adds the lines to what it prints.
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct module {
  char name[1024];
  const char *file;
  size_t size;
  const ElfW(Sym) *symbols;
  size_t count;
  const char *strings;
  size_t strings_size;
} modules[256];
static size_t module_count;

// The whole table, or that for the dynamic linker where the whole one was stripped.
static void find_symbols(struct module *module) {
  const ElfW(Ehdr) *header = (const void *)module->file;
  if (module->size < sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return;
  if (header->e_shoff > module->size || (module->size - header->e_shoff) / sizeof(ElfW(Shdr)) < header->e_shnum) return;
  const ElfW(Shdr) *sections = (const void *)(module->file + header->e_shoff);
  for (size_t index = 0; index < header->e_shnum; index++) {
    const ElfW(Shdr) *table = &sections[index];
    if (table->sh_type != SHT_SYMTAB && (table->sh_type != SHT_DYNSYM || module->symbols)) continue;
    if (table->sh_link >= header->e_shnum) continue;
    const ElfW(Shdr) *strings = &sections[table->sh_link];
    if (table->sh_offset > module->size || table->sh_size > module->size - table->sh_offset) continue;
    if (strings->sh_offset > module->size || strings->sh_size > module->size - strings->sh_offset) continue;
    module->symbols = (const void *)(module->file + table->sh_offset);
    module->count = table->sh_size / sizeof(ElfW(Sym));
    module->strings = module->file + strings->sh_offset;
    module->strings_size = strings->sh_size;
  }
}

static int add(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size, (void)unused;
  if (module_count == sizeof modules / sizeof *modules) return 1;
  struct module *module = &modules[module_count];
  const char *path = info->dlpi_name;
  if (path[0]) {
    if (strlen(path) >= sizeof module->name) return 0;
    strcpy(module->name, path);
  } else {
    // The program comes first and has no name here; ThreadSanitizer knows it by its path.
    if (module_count > 0) return 0;
    ssize_t length = readlink(path = "/proc/self/exe", module->name, sizeof module->name - 1);
    if (length <= 0) return 0;
  }
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  struct stat found;
  if (descriptor >= 0 && fstat(descriptor, &found) == 0 && found.st_size > 0) {
    // Not by `mmap`: ThreadSanitizer would prepare memory of its own for a file that no thread ever writes.
    long address = syscall(SYS_mmap, NULL, (size_t)found.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0L);
    if (address != -1) {
      module->file = (const char *)address;
      module->size = (size_t)found.st_size;
      find_symbols(module);
      module_count++;
    }
  }
  if (descriptor >= 0) close(descriptor);
  return 0;
}

// Before any thread, and before the process is confined.
__attribute__((constructor)) static void map_modules(void) { dl_iterate_phdr(add, NULL); }

static const ElfW(Sym) *symbol_at(const char *name, uint64_t offset, int type, const char **symbol_name) {
  for (size_t index = 0; index < module_count; index++) {
    const struct module *module = &modules[index];
    if (strcmp(module->name, name) != 0) continue;
    for (const ElfW(Sym) *symbol = module->symbols, *end = symbol + module->count; symbol < end; symbol++) {
      if (ELF64_ST_TYPE(symbol->st_info) != type || symbol->st_name >= module->strings_size) continue;
      if (offset < symbol->st_value || offset - symbol->st_value >= symbol->st_size) continue;
      *symbol_name = module->strings + symbol->st_name;
      return symbol;
    }
  }
  return NULL;
}

// These are called by ThreadSanitizer only, one at a time. What they write is what llvm-symbolizer would.
bool __sanitizer_symbolize_code(const char *module, uint64_t offset, char *buffer, int size);
bool __sanitizer_symbolize_code(const char *module, uint64_t offset, char *buffer, int size) {
  const char *name;
  if (!symbol_at(module, offset, STT_FUNC, &name)) return false;
  return snprintf(buffer, (size_t)size, "%s\n??:0:0\n\n", name) < size;
}

bool __sanitizer_symbolize_data(const char *module, uint64_t offset, char *buffer, int size);
bool __sanitizer_symbolize_data(const char *module, uint64_t offset, char *buffer, int size) {
  const char *name;
  const ElfW(Sym) *symbol = symbol_at(module, offset, STT_OBJECT, &name);
  if (!symbol) return false;
  return snprintf(buffer, (size_t)size, "%s\n%lu %lu\n??:0\n", name, symbol->st_value, symbol->st_size) < size;
}

bool __sanitizer_symbolize_frame(const char *module, uint64_t offset, char *buffer, int size);
bool __sanitizer_symbolize_frame(const char *module, uint64_t offset, char *buffer, int size) {
  (void)module, (void)offset, (void)buffer, (void)size;
  return false;
}

// Names stay as they are: the suppressions have them so, too.
bool __sanitizer_symbolize_demangle(const char *name, char *buffer, int size);
bool __sanitizer_symbolize_demangle(const char *name, char *buffer, int size) {
  return snprintf(buffer, (size_t)size, "%s", name) < size;
}

void __sanitizer_symbolize_flush(void);
void __sanitizer_symbolize_flush(void) {}
bool __sanitizer_symbolize_set_demangle(bool demangle);
bool __sanitizer_symbolize_set_demangle(bool demangle) { return (void)demangle, true; }
bool __sanitizer_symbolize_set_inline_frames(bool inline_frames);
bool __sanitizer_symbolize_set_inline_frames(bool inline_frames) { return (void)inline_frames, true; }
