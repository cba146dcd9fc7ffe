/// What is wrong with the words of `tactus call`; nothing was sent then.
struct CallError: Error, Equatable, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
