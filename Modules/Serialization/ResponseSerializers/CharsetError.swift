/// Why bytes are not text in a charset.
struct CharsetError: Error, Hashable, CustomStringConvertible {
    enum Kind {
        /// The bytes are not in the charset.
        case malformed
        /// The charset is known, but the C library has no converter for it: its module is not installed, or the program is
        /// linked statically and cannot load it.
        case noConverter
    }

    let kind: Kind
    /// The offset in bytes of the first malformed sequence, or of one before it.
    let offset: Int

    /// The end of a sentence, without its full stop.
    var description: String {
        kind == .malformed
            ? "byte \(offset) or a later one is not in the charset"
            : "the C library has no converter for it; install one, or set a charset of your own"
    }
}
