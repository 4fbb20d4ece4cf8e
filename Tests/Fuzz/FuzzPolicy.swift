// Testable: Settings
import FoundationEssentials

@testable import LinnetSecurity
@testable import LinnetSettings

/// Parses the input as the texts of a policy. Every input leads to a value or an error.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPolicy(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Data(UnsafeBufferPointer(start: data, count: count))
    let text = String(decoding: bytes, as: UTF8.self)
    for line in text.split(separator: "\n").prefix(16) {
        if let pattern = try? HostPattern(String(line)) { _ = pattern.matches(pattern.description) }
        if let pin = try? PublicKeyPin(String(line)) { guard pin.description == line else { fatalError("\(pin)") } }
    }
    if let document = try? SecurityPolicyDocument(json: bytes) {
        guard let written = try? document.json(), (try? SecurityPolicyDocument(json: written)) == document else {
            fatalError("An encoded policy does not parse to itself.")
        }
        // File names from the fuzzer are not opened.
        if document.includes.isEmpty, !document.rules.contains(where: namesFiles), !namesFiles(document.otherHosts),
            let file = try? SecurityPolicyFile(document)
        {
            _ = (try? file.makePolicy(), file.findings(at: Date(timeIntervalSince1970: 1_700_000_000)))
        }
    }
    _ = try? PublicKeyPin(key: bytes)
    _ = try? X509Certificate.all(pem: bytes)
    _ = try? RevocationList.all(pem: bytes)
    return 0
}

private func namesFiles(_ rule: SecurityPolicyDocument.Rule) -> Bool {
    (rule.anchors + (rule.pinnedCertificates ?? [])).contains { !PEM.isPEM($0) }
        || rule.nested.contains(where: namesFiles)
}

private func namesFiles(_ others: SecurityPolicyDocument.OtherHosts?) -> Bool {
    if case .rule(let rule) = others { namesFiles(rule) } else { false }
}
