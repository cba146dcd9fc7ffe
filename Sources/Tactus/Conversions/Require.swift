/// Traps with `message` unless `condition` holds: for a caller's mistake, in every build.
///
/// `precondition` drops its text from an optimised build, which is the one that runs far from a debugger.
@inlinable @inline(__always)
func require(
  _ condition: Bool, _ message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) {
  if !condition { fatalError(message(), file: file, line: line) }
}
