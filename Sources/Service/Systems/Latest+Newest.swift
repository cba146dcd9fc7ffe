import Tactus

extension Latest {
  /// What its loop has published last.
  package var newest: Element {
    var reader = self.reader()
    return reader.read()
  }
}
