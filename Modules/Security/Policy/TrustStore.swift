internal import COpenSSL
internal import FoundationEssentials
internal import Synchronization

/// An `X509_STORE`: one for each set of anchors, shared by all that trust it.
final class TrustStore: Sendable {
    // SAFETY: filled in init and not changed after; look-ups take the store's own lock.
    nonisolated(unsafe) let pointer: OpaquePointer
    /// The anchors at which chains ended so far, with what was read from them.
    private let used = Mutex<[UInt: X509Handle]>([:])
    let verified = VerifiedChains()

    /// A store of the certificates in files, of those in directories whose entries are named by subject hash, and of
    /// these.
    ///
    /// A file or directory that cannot be read is an error: fewer anchors than meant would show as refusals that nobody
    /// can explain.
    init(_ location: TrustStoreLocation, _ anchors: [X509Handle]) throws(SecurityError) {
        guard let store = X509_STORE_new() else {
            throw SecurityError(.openSSLFailed, "OpenSSL has no memory for a store of anchors.")
        }
        pointer = store
        OpenSSLErrorQueue.clear()
        defer { OpenSSLErrorQueue.clear() }
        for file in location.files where X509_STORE_load_file(pointer, file) != 1 {
            throw SecurityError(
                .cannotReadFile, "No anchor can be read from \"\(file.oneLine)\": \(OpenSSLErrorQueue.drain().summary)."
            )
        }
        // OpenSSL looks into a directory only when it needs one: a name that is wrong would not be noticed.
        let directories = location.directories
        if !directories.isEmpty, !directories.contains(where: Self.isReadableDirectory) {
            let named = directories.joined(separator: ":").oneLine
            throw SecurityError(.cannotReadFile, "No anchor can be read: \"\(named)\" is no readable directory.")
        }
        for directory in directories where X509_STORE_load_path(pointer, directory) != 1 {
            throw SecurityError(
                .cannotReadFile,
                "No anchor can be read from \"\(directory.oneLine)\": \(OpenSSLErrorQueue.drain().summary).")
        }
        for anchor in anchors where X509_STORE_add_cert(pointer, anchor.pointer) != 1 {
            throw SecurityError(.openSSLFailed, "An anchor cannot be used: \(OpenSSLErrorQueue.drain().summary).")
        }
    }

    /// The handle of an anchor. It holds a reference, so that no other certificate can come to lie where this one does.
    func handle(of anchor: OpaquePointer) -> X509Handle {
        used.withLock { used in
            if let handle = used[UInt(bitPattern: anchor)] { return handle }
            // A directory's anchors can be loaded twice by two threads; nothing grows without bounds for that.
            if used.count >= 512 { used.removeAll() }
            let handle = X509Handle(sharing: anchor)
            used[UInt(bitPattern: anchor)] = handle
            return handle
        }
    }

    /// The anchors of a name (an `X509_NAME`), those in a directory included.
    func certificates(named name: OpaquePointer?) -> [X509Handle] {
        OpenSSLErrorQueue.clear()
        defer { OpenSSLErrorQueue.clear() }
        guard let name, let context = X509_STORE_CTX_new() else { return [] }
        defer { X509_STORE_CTX_free(context) }
        guard X509_STORE_CTX_init(context, pointer, nil, nil) == 1,
            let stack = X509_STORE_CTX_get1_certs(context, name)
        else { return [] }
        defer { linnet_sk_X509_pop_free(stack) }
        return (0..<max(0, linnet_sk_X509_num(stack))).compactMap { index in
            linnet_sk_X509_value(stack, index).map { handle(of: $0) }
        }
    }

    private static func isReadableDirectory(_ path: String) -> Bool {
        (try? FileManager.default.contentsOfDirectory(atPath: path)) != nil
    }

    deinit {
        X509_STORE_free(pointer)
    }
}

/// Files and directories of anchors.
struct TrustStoreLocation: Hashable, Sendable {
    var files: [String]
    var directories: [String]

    static let nowhere = TrustStoreLocation(files: [], directories: [])
}
