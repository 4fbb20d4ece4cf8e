internal import COpenSSL
internal import FoundationEssentials
internal import Synchronization

/// A reference to an OpenSSL certificate with lazily computed properties.
final class X509Handle: Sendable {
    /// Computed on first use. If two threads race, both compute the same value.
    private struct Known {
        var der: Data?
        var pin: PublicKeyPin?
        /// The inner optional is nil if the certificate is not valid DER.
        var facts: CertificateFacts??
        /// The profiles that the certificate has passed, each with a position in the chain.
        var passed: [Pass] = []
        /// The inner optional is nil if the certificate has no flaw as an anchor.
        var anchorFlaw: String??
    }

    private struct Pass: Equatable {
        let standards: ChainProfile.Standards
        let position: ChainLink.Position
    }

    // SAFETY: an X509 is not modified after parsing, and OpenSSL guards its caches and reference counts with its own
    // locks.
    nonisolated(unsafe) let pointer: OpaquePointer
    private let known = Mutex(Known())

    /// Takes ownership of a reference.
    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    /// Adds a reference.
    convenience init(sharing pointer: OpaquePointer) {
        X509_up_ref(pointer)
        self.init(owning: pointer)
    }

    /// Parses DER; nil if it is not a certificate or has trailing bytes.
    convenience init?(der: Data, facts: CertificateFacts? = nil) {
        OpenSSLErrorQueue.clear()
        let parsed = der.withUnsafeBytes { bytes -> OpaquePointer? in
            guard let base = bytes.bindMemory(to: UInt8.self).baseAddress else { return nil }
            var position: UnsafePointer<UInt8>? = base
            guard let certificate = d2i_X509(nil, &position, bytes.count) else { return nil }
            guard position == base + bytes.count else {
                X509_free(certificate)
                return nil
            }
            return certificate
        }
        OpenSSLErrorQueue.clear()
        guard let parsed else { return nil }
        self.init(owning: parsed)
        // Only for strict DER is it certain that OpenSSL would encode the same bytes.
        guard let facts else { return }
        known.withLock { ($0.der, $0.facts) = (Data(der), .some(facts)) }
    }

    deinit {
        X509_free(pointer)
    }

    var der: Data {
        if let der = known.withLock({ $0.der }) { return der }
        let der = OpenSSLBytes.written { i2d_X509(pointer, $0) }
        known.withLock { $0.der = der }
        return der
    }

    /// The parsed fields that rules examine; nil if the certificate is not valid DER.
    var facts: CertificateFacts? {
        if let facts = known.withLock({ $0.facts }) { return facts }
        let facts = try? CertificateFacts(der: [UInt8](der))
        known.withLock { $0.facts = .some(facts) }
        return facts
    }

    /// The SubjectPublicKeyInfo (RFC 5280, 4.1.2.7) in DER.
    var subjectPublicKeyInfo: Data {
        OpenSSLBytes.written { i2d_X509_PUBKEY(X509_get_X509_PUBKEY(pointer), $0) }
    }

    /// Whether a profile has already been checked; its result depends on nothing else.
    func hasPassed(_ profile: ChainProfile, at position: ChainLink.Position) -> Bool {
        known.withLock { $0.passed.contains(Pass(standards: profile.standards, position: position)) }
    }

    func pass(_ profile: ChainProfile, at position: ChainLink.Position) {
        known.withLock { known in
            // Bounded, since a program can make any number of profiles.
            if known.passed.count > 8 { known.passed.removeFirst() }
            known.passed.append(Pass(standards: profile.standards, position: position))
        }
    }

    /// The violation of ``ChainRule/flawedAnchor`` if the certificate is an issuing anchor; nil if there is none.
    var anchorFlaw: String? {
        if let flaw = known.withLock({ $0.anchorFlaw }) { return flaw }
        let link = facts.map { ChainLink(facts: $0, position: .issuingAnchor, profile: .default) }
        let flaw = link.map { ChainRule.flawedAnchor.check($0) } ?? "is not valid DER"
        known.withLock { $0.anchorFlaw = .some(flaw) }
        return flaw
    }

    var pin: PublicKeyPin {
        if let pin = known.withLock({ $0.pin }) { return pin }
        let pin = PublicKeyPin(subjectPublicKeyInfo: subjectPublicKeyInfo)
        known.withLock { $0.pin = pin }
        return pin
    }

    var subject: String { text(X509_get_subject_name(pointer)) }
    var issuer: String { text(X509_get_issuer_name(pointer)) }

    var serialNumber: String {
        guard let serial = X509_get0_serialNumber(pointer), let data = ASN1_STRING_get0_data(serial) else { return "" }
        let bytes = UnsafeBufferPointer(start: data, count: Int(ASN1_STRING_length(serial)))
        let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        // ASN1_STRING holds the magnitude; the sign is in the type.
        return ASN1_STRING_type(serial) == V_ASN1_NEG_INTEGER ? "-" + digits : digits
    }

    var notBefore: Date {
        // A certificate is never valid if one of its times cannot be read.
        facts?.notBefore.date ?? OpenSSLTime.date(X509_get0_notBefore(pointer)) ?? .distantFuture
    }

    var notAfter: Date {
        facts?.notAfter.date ?? OpenSSLTime.date(X509_get0_notAfter(pointer)) ?? .distantPast
    }

    /// The subject alternative names in OpenSSL's notation; nil if there are none.
    var alternativeNames: String? {
        let index = X509_get_ext_by_NID(pointer, NID_subject_alt_name, -1)
        guard index >= 0, let names = X509_get_ext(pointer, index) else { return nil }
        let text = OpenSSLText.written { X509V3_EXT_print($0, names, 0, 0) == 1 }
        OpenSSLErrorQueue.clear()
        return text.isEmpty ? nil : text
    }

    private func text(_ name: OpaquePointer?) -> String {
        name.map { OpenSSLText.name($0) } ?? ""
    }
}

/// Reads DER that OpenSSL encodes.
enum OpenSSLBytes {
    /// Returns the output of the closure; empty if it fails.
    static func written(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>) -> Int32) -> Data {
        var out: UnsafeMutablePointer<UInt8>?
        let count = encode(&out)
        guard count > 0, let out else { return Data() }
        defer { CRYPTO_free(out, #file, #line) }
        return Data(UnsafeBufferPointer(start: out, count: Int(count)))
    }
}

/// Reads text that OpenSSL prints into a BIO.
package enum OpenSSLText {
    /// An `X509_NAME` in RFC 2253 notation.
    package static func name(_ name: OpaquePointer) -> String {
        written { X509_NAME_print_ex($0, name, 0, LINNET_NAME_FLAGS) >= 0 }
    }

    /// Returns the output of the closure; empty if it fails.
    static func written(_ write: (OpaquePointer) -> Bool) -> String {
        guard let bio = BIO_new(BIO_s_mem()) else { return "" }
        defer { BIO_free(bio) }
        guard write(bio) else { return "" }
        var data: UnsafeMutablePointer<CChar>?
        let count = linnet_BIO_get_mem_data(bio, &data)
        guard count > 0, let data else { return "" }
        return String(decoding: UnsafeRawBufferPointer(start: data, count: count), as: UTF8.self)
    }
}

/// Converts OpenSSL times.
enum OpenSSLTime {
    static func date(_ time: UnsafePointer<ASN1_TIME>?) -> Date? {
        var days: Int32 = 0
        var seconds: Int32 = 0
        // Computed as a difference from the epoch, independent of time zones and the width of time_t.
        guard let time, let epoch = ASN1_TIME_set(nil, 0) else { return nil }
        defer {
            ASN1_TIME_free(epoch)
            OpenSSLErrorQueue.clear()
        }
        guard ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else { return nil }
        return Date(timeIntervalSince1970: Double(days) * 86_400 + Double(seconds))
    }
}

extension X509Handle {
    enum Validity {
        case notYet
        case valid
        case over
    }

    /// Whether the certificate is valid at a time: from the first second to the last, both included (RFC 5280,
    /// 4.1.2.5).
    func validity(at time: Date) -> Validity {
        guard let seconds = Int(exactly: time.timeIntervalSince1970.rounded(.down)) else { return .over }
        return validity(at: seconds)
    }

    /// The same for a time in seconds since 1970.
    func validity(at seconds: Int) -> Validity {
        guard let facts, let begin = facts.notBefore.seconds, let end = facts.notAfter.seconds else {
            return openSSLValidity(at: seconds)
        }
        return seconds < begin ? .notYet : seconds > end ? .over : .valid
    }

    /// The validity of certificates with times that only OpenSSL can read; some anchors have such times.
    private func openSSLValidity(at seconds: Int) -> Validity {
        OpenSSLErrorQueue.clear()
        defer { OpenSSLErrorQueue.clear() }
        guard var moment = time_t(exactly: seconds) else { return .over }
        // X509_cmp_time never returns equality: an equal time counts as earlier. 0 means a time that cannot be read.
        guard X509_cmp_time(X509_get0_notBefore(pointer), &moment) < 0 else { return .notYet }
        guard var before = time_t(exactly: seconds - 1) else { return .over }
        return X509_cmp_time(X509_get0_notAfter(pointer), &before) > 0 ? .valid : .over
    }
}

/// A cache of parsed certificates that servers presented recently.
///
/// Servers present the same certificates repeatedly, and decoding a key is a large part of the cost of an evaluation.
/// The cache holds no decisions.
final class CertificateCache: Sendable {
    static let shared = CertificateCache()

    private struct Contents {
        var certificates: [Data: X509Handle] = [:]
        /// Oldest first.
        var order: [Data] = []
    }

    /// Larger certificates are not cached.
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
