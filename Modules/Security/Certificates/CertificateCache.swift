internal import FoundationEssentials
internal import Synchronization

/// The certificates that servers presented last, parsed.
///
/// Servers present the same ones again and again, and decoding a key is a good part of judging a chain. What is kept here
/// is no verdict.
final class CertificateCache: Sendable {
    static let shared = CertificateCache()

    private struct Contents {
        var certificates: [Data: X509Handle] = [:]
        /// Oldest first.
        var order: [Data] = []
    }

    /// Larger ones are parsed each time.
    static let largestCertificate = 8 * 1024
    static let capacity = 128
    private let contents = Mutex(Contents())

    func certificate(_ der: Data) -> X509Handle? {
        contents.withLock { $0.certificates[der] }
    }

    func insert(_ handle: X509Handle, for der: Data) {
        guard der.count <= Self.largestCertificate else { return }
        contents.withLock { contents in
            guard contents.certificates.updateValue(handle, forKey: der) == nil else { return }
            contents.order.append(der)
            guard contents.order.count > Self.capacity else { return }
            contents.certificates[contents.order.removeFirst()] = nil
        }
    }
}
