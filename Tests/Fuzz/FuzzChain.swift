// Testable: Security
import FoundationEssentials

@testable import LinnetSecurity

/// Evaluates the fuzzer's input: certificates, anchors, staples and revocation lists, each preceded by a byte with its
/// kind and two bytes with its length. Every input leads to a decision within the time limit.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzChain(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = FuzzedChain([UInt8](UnsafeBufferPointer(start: data, count: count)))
    for bytes in input.certificates.prefix(4) {
        _ = try? CertificateFacts(der: [UInt8](bytes))
        if let certificate = try? X509Certificate(der: bytes) { _ = (certificate.summary, certificate.promisesStaple) }
    }
    let lists = input.lists.prefix(2).compactMap { try? RevocationList(der: $0) }
    let anchors = input.anchors.prefix(4).compactMap { try? X509Certificate(der: $0) }
    guard let set = try? TrustAnchors.certificates(anchors) else { return 0 }
    let first = input.certificates.first.flatMap { try? CertificateFacts(der: [UInt8]($0)) }
    let time = Date(timeIntervalSince1970: TimeInterval((first?.notBefore.seconds ?? 0) + 86_400))
    let trust = ServerTrust(
        host: "localhost", port: 443, presentedChain: input.certificates, stapledOCSPResponse: input.staple, time: time)
    for profile in [ChainProfile.strict, .lenient] {
        var profile = profile
        profile.revocation.lists = lists
        _ = try? ChainVerifier(anchors: set, validatesHost: true, profile: profile).verify(trust)
    }
    return 0
}

/// The parsed input.
private struct FuzzedChain {
    var certificates: [Data] = []
    var anchors: [Data] = []
    var lists: [Data] = []
    var staple: Data?

    init(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while rest.count > 3 {
            let kind = rest.removeFirst()
            let length = Int(rest.removeFirst()) << 8 | Int(rest.removeFirst())
            let item = Data(rest.prefix(length))
            rest = rest.dropFirst(length)
            switch kind & 3 {
            case 0: certificates.append(item)
            case 1: anchors.append(item)
            case 2: staple = item
            default: lists.append(item)
            }
        }
    }
}
