/// A file whose text is not understood, and which is therefore left as it is.
struct BootFileError: Error, Equatable, CustomStringConvertible {
  var path: String
  /// From 1.
  var line: Int
  var expected: String
  var got: String

  var description: String { "\(path):\(line): expected \(expected), got \(got)" }
}
