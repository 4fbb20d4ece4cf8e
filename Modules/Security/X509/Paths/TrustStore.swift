internal import COpenSSL
internal import FoundationEssentials
internal import LinnetMessages
internal import Synchronization

/// An `X509_STORE` for one set of anchors, shared by all evaluators that use it.
final class TrustStore: Sendable {
    // SAFETY: filled in init and not modified later; lookups take the store's own lock.
    nonisolated(unsafe) let pointer: OpaquePointer
    /// Handles of the anchors that chains ended at, which keep their parsed fields.
    private let used = Mutex<[UInt: X509Handle]>([:])
    let verified = VerifiedChains()

    /// Loads the certificates of files, of directories whose entries are named by subject hash, and the given ones.
    ///
    /// - Throws: ``SecurityError/Code/cannotReadFile`` if a file or directory cannot be read: a missing anchor would
    ///   otherwise show only as unexplained refusals.
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
        // OpenSSL reads a directory only on demand, so a wrong path has to be detected here.
        let directories = location.directories
        if !directories.isEmpty, !directories.contains(where: Self.isReadableDirectory) {
            let named = directories.joined(separator: ":").oneLine
            throw SecurityError(.cannotReadFile, "No anchor can be read: \"\(named)\" is not a readable directory.")
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

    /// The handle of an anchor. It retains the certificate, so that its address stays unique.
    func handle(of anchor: OpaquePointer) -> X509Handle {
        used.withLock { used in
            if let handle = used[UInt(bitPattern: anchor)] { return handle }
            // Two threads can load an anchor of a directory twice. The bound keeps the number of duplicates small.
            if used.count >= 512 { used.removeAll() }
            let handle = X509Handle(sharing: anchor)
            used[UInt(bitPattern: anchor)] = handle
            return handle
        }
    }

    /// The anchors with a name (an `X509_NAME`), including anchors in directories.
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

/// A cache of chains that were verified up to the anchors of one store.
///
/// Signatures, names and purposes of the same certificates have the same result each time; only validity depends on the
/// time, and is checked again. Profile rules, revocation and pins are checked each time. Refused chains are not cached.
final class VerifiedChains: Sendable {
    /// All that the result depends on, except for the store and the time. Handles stand for the bytes of their
    /// certificates.
    struct Question: Hashable {
        let presented: [X509Handle]
        /// Nil if the host is not checked.
        let host: String?
        let securityLevel: Int32
        let depth: Int32
        let flags: UInt
        /// Set if the profile refuses OpenSSL's path and another was found; nil for OpenSSL's path.
        var standards: ChainProfile.Standards?
    }

    private struct Answer {
        let chain: [X509Handle]
        /// In seconds from 1970.
        let validity: ClosedRange<Int>
        let verified: ContinuousClock.Instant
    }

    private struct Contents {
        var answers: [Question: Answer] = [:]
        /// Oldest first.
        var order: [Question] = []
    }

    static let capacity = 128
    /// The lifetime of an entry: another path to an anchor may become preferable.
    static let longestMemory = Duration.seconds(30 * 60)

    private let contents = Mutex(Contents())
    private let now: @Sendable () -> ContinuousClock.Instant

    init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.now = now
    }

    /// The number of entries.
    var count: Int { contents.withLock { $0.answers.count } }

    /// The cached chain from the leaf to the anchor, if it is valid at a time.
    func chain(_ question: Question, at time: Int) -> [X509Handle]? {
        guard let answer = contents.withLock({ $0.answers[question] }), answer.validity.contains(time),
            now() - answer.verified < Self.longestMemory
        else { return nil }
        return answer.chain
    }

    func remember(_ chain: [X509Handle], for question: Question) {
        // Larger certificates get a new handle each time, and times that only OpenSSL can read have no known end.
        guard question.presented.allSatisfy({ $0.der.count <= CertificateCache.largestCertificate }),
            let validity = Self.validity(of: chain)
        else { return }
        let answer = Answer(chain: chain, validity: validity, verified: now())
        contents.withLock { contents in
            // A renewed answer has the whole time again, so it is the newest. The list is short, and a renewal rare.
            if contents.answers.updateValue(answer, forKey: question) != nil {
                contents.order.removeAll { $0 == question }
            }
            contents.order.append(question)
            guard contents.order.count > Self.capacity else { return }
            contents.answers[contents.order.removeFirst()] = nil
        }
    }

    /// The range of times at which all certificates are valid, both ends included (RFC 5280, 4.1.2.5).
    private static func validity(of chain: [X509Handle]) -> ClosedRange<Int>? {
        var (begin, end) = (Int.min, Int.max)
        for certificate in chain {
            guard let facts = certificate.facts, let notBefore = facts.notBefore.seconds,
                let notAfter = facts.notAfter.seconds
            else { return nil }
            begin = max(begin, notBefore)
            end = min(end, notAfter)
        }
        return begin <= end ? begin...end : nil
    }
}

extension X509Handle: Hashable {
    static func == (left: X509Handle, right: X509Handle) -> Bool { left === right }

    func hash(into hasher: inout Hasher) { hasher.combine(Swift.ObjectIdentifier(self)) }
}
