/// The error for a file whose text is not understood and which is therefore left unchanged.
struct BootFileError: Error, Equatable, CustomStringConvertible {
  var path: String
  /// The line, counted from 1.
  var line: Int
  var expected: String
  var got: String

  var description: String { "\(path):\(line): expected \(expected), got \(got)" }
}
