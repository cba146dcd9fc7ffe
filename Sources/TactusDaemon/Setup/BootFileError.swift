/// A file that somebody has written in a way that is not understood, and is therefore left alone.
struct BootFileError: Error, Equatable, CustomStringConvertible {
  var path: String
  /// From 1.
  var line: Int
  var expected: String
  var got: String

  var description: String { "\(path):\(line): expected \(expected), got \(got)" }
}
