package import FoundationEssentials
package import LinnetSerialization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A small file that describes a part.
package enum SideFile {
    /// Atomically replaces the file with one that only its owner can read. A process that is killed meanwhile leaves a
    /// hidden file beside it. Blocks.
    package static func replace(_ path: String, with bytes: Data) throws(FileFailure) {
        guard let place = FilePlace(path) else { throw SystemFile.failure(path, "does not name a file", EISDIR) }
        try SystemFile.replace(place, with: bytes)
    }
}
