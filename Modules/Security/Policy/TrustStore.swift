internal import COpenSSL
internal import FoundationEssentials

/// An `X509_STORE`: one for each set of anchors, shared by all that trust it.
final class TrustStore: Sendable {
    // SAFETY: filled in init and not changed after; look-ups take the store's own lock.
    nonisolated(unsafe) let pointer: OpaquePointer

    /// A store of these certificates alone.
    init(_ anchors: [X509Handle]) throws(SecurityError) {
        pointer = try Self.makeStore()
        OpenSSLErrorQueue.clear()
        defer { OpenSSLErrorQueue.clear() }
        for anchor in anchors where X509_STORE_add_cert(pointer, anchor.pointer) != 1 {
            throw SecurityError(.openSSLFailed, "An anchor cannot be used: \(OpenSSLErrorQueue.drain()).")
        }
    }

    /// A store of the certificates in files, and in directories whose entries are named by subject hash.
    init(files: [String], directories: [String]) throws(SecurityError) {
        pointer = try Self.makeStore()
        OpenSSLErrorQueue.clear()
        defer { OpenSSLErrorQueue.clear() }
        for file in files where X509_STORE_load_file(pointer, file) != 1 {
            throw SecurityError(.cannotReadFile, "No anchor can be read from \"\(file)\".")
        }
        // OpenSSL looks into a directory only when it needs one: a name that is wrong would not be noticed.
        if !directories.isEmpty, !directories.contains(where: Self.isReadableDirectory) {
            throw SecurityError(.cannotReadFile, "\"\(directories.joined(separator: ":"))\" is no readable directory.")
        }
        for directory in directories where X509_STORE_load_path(pointer, directory) != 1 {
            throw SecurityError(.cannotReadFile, "No anchor can be read from \"\(directory)\".")
        }
    }

    deinit {
        X509_STORE_free(pointer)
    }

    private static func isReadableDirectory(_ path: String) -> Bool {
        (try? FileManager.default.contentsOfDirectory(atPath: path)) != nil
    }

    private static func makeStore() throws(SecurityError) -> OpaquePointer {
        guard let store = X509_STORE_new() else {
            throw SecurityError(.openSSLFailed, "OpenSSL has no memory for a store.")
        }
        return store
    }
}
