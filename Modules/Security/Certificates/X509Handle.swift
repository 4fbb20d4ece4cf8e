internal import COpenSSL
internal import FoundationEssentials
internal import Synchronization

/// One reference to an OpenSSL certificate, and what was read from it so far.
final class X509Handle: Sendable {
    /// Computed when it is first asked for; which of two threads did it makes no difference.
    private struct Known {
        var der: Data?
        var pin: PublicKeyPin?
        /// Nil inside when the certificate is no DER that can be read.
        var facts: CertificateFacts??
        /// Which profiles found nothing wrong with it, and where in a chain.
        var passed: [Pass] = []
        /// Nil inside when nothing is wrong with it as an anchor.
        var anchorFlaw: String??
    }

    private struct Pass: Equatable {
        let standards: ChainProfile.Standards
        let position: ChainLink.Position
    }

    // SAFETY: an X509 is not changed after it was parsed, and OpenSSL guards its caches and counts with its own locks.
    nonisolated(unsafe) let pointer: OpaquePointer
    private let known = Mutex(Known())

    /// Takes over a reference.
    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    /// Adds a reference.
    convenience init(sharing pointer: OpaquePointer) {
        X509_up_ref(pointer)
        self.init(owning: pointer)
    }

    /// Parses DER; nil when it is no certificate, or has bytes after it.
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
        // Only of bytes that are DER it is certain that OpenSSL would write the same.
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

    /// What it says, for rules to look at; nil when it is no DER that can be read.
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

    /// What a profile's rules say of a certificate depends on nothing else, so it need not be asked again.
    func hasPassed(_ profile: ChainProfile, at position: ChainLink.Position) -> Bool {
        known.withLock { $0.passed.contains(Pass(standards: profile.standards, position: position)) }
    }

    func pass(_ profile: ChainProfile, at position: ChainLink.Position) {
        known.withLock { known in
            if known.passed.count > 8 { known.passed.removeFirst() }
            known.passed.append(Pass(standards: profile.standards, position: position))
        }
    }

    /// What ``ChainRule/flawedAnchor`` says of it as an anchor that issues; nil when nothing is wrong.
    var anchorFlaw: String? {
        if let flaw = known.withLock({ $0.anchorFlaw }) { return flaw }
        let link = facts.map { ChainLink(facts: $0, position: .issuingAnchor, profile: .default) }
        let flaw = link.map { ChainRule.flawedAnchor.check($0) } ?? "is no DER that can be read"
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
        facts?.notBefore.date ?? OpenSSLTime.date(X509_get0_notBefore(pointer)) ?? .distantFuture
    }

    var notAfter: Date {
        facts?.notAfter.date ?? OpenSSLTime.date(X509_get0_notAfter(pointer)) ?? .distantPast
    }

    /// The hosts that it is for, as OpenSSL prints them; nil where it names none.
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

/// Bytes that OpenSSL writes as DER.
enum OpenSSLBytes {
    /// What the closure writes; empty when it fails.
    static func written(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>) -> Int32) -> Data {
        var out: UnsafeMutablePointer<UInt8>?
        let count = encode(&out)
        guard count > 0, let out else { return Data() }
        defer { CRYPTO_free(out, #file, #line) }
        return Data(UnsafeBufferPointer(start: out, count: Int(count)))
    }
}

/// Text that OpenSSL writes into a BIO.
package enum OpenSSLText {
    /// An `X509_NAME`, as RFC 2253 writes names.
    package static func name(_ name: OpaquePointer) -> String {
        written { X509_NAME_print_ex($0, name, 0, LINNET_NAME_FLAGS) >= 0 }
    }

    /// What the closure writes; empty when it fails.
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

/// A moment as OpenSSL has it.
enum OpenSSLTime {
    static func date(_ time: UnsafePointer<ASN1_TIME>?) -> Date? {
        var days: Int32 = 0
        var seconds: Int32 = 0
        // Counted from the epoch, so that no time zone and no width of time_t comes in.
        guard let time, let epoch = ASN1_TIME_set(nil, 0) else { return nil }
        defer {
            ASN1_TIME_free(epoch)
            OpenSSLErrorQueue.clear()
        }
        guard ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else { return nil }
        return Date(timeIntervalSince1970: Double(days) * 86_400 + Double(seconds))
    }
}
