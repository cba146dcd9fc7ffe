/// Traps with `message` unless `condition` holds, in debug and release builds alike. Used where a false condition is a mistake of the caller.
///
/// `precondition` drops its message in an optimised build, which is the build that runs far from a debugger.
@inlinable @inline(__always)
func require(
  _ condition: Bool, _ message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) {
  if !condition { fatalError(message(), file: file, line: line) }
}
