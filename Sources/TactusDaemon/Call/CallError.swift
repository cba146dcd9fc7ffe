/// An error in the words of `tactus call`; nothing was sent.
struct CallError: Error, Equatable, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
