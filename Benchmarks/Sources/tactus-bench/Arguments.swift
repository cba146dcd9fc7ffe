import Glibc

/// Positional arguments. What is wrong with them ends the program with status 64: the harness is the only caller.
struct Arguments {
  private let words: [String]

  init(_ words: some Sequence<String>) { self.words = Array(words) }

  func after(_ count: Int) -> Arguments { Arguments(words.dropFirst(count)) }

  func word(_ index: Int) -> String {
    guard index < words.count else { fail() }
    return words[index]
  }

  func int(_ index: Int) -> Int {
    guard let value = Int(word(index)) else { fail() }
    return value
  }

  var count: Int { words.count }

  func fail() -> Never {
    let message = "tactus-bench: arguments \(words) not understood; run scripts/bench\n"
    write(2, message, message.utf8.count)
    exit(64)
  }
}
