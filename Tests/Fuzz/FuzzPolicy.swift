// Testable: Security
import FoundationEssentials

@testable import LinnetSecurity

/// Reads what the fuzzer makes as the texts of which a policy is made. Whatever comes, there is a value or an error.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPolicy(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Data(UnsafeBufferPointer(start: data, count: count))
    let text = String(decoding: bytes, as: UTF8.self)
    for line in text.split(separator: "\n").prefix(16) {
        if let pattern = try? HostPattern(String(line)) { _ = pattern.matches(pattern.description) }
        if let pin = try? PublicKeyPin(String(line)) { guard pin.description == line else { fatalError("\(pin)") } }
        _ = HostName(String(line))?.text
    }
    if let document = try? SecurityPolicyDocument(json: bytes) {
        guard let written = try? document.json(), (try? SecurityPolicyDocument(json: written)) == document else {
            fatalError("A policy is not read as it was written.")
        }
        // Names of files are not for a fuzzer to make up.
        if document.includes.isEmpty, document.rules.allSatisfy({ $0.anchors.isEmpty }),
            let file = try? SecurityPolicyFile(document)
        {
            _ = (try? file.makePolicy(), file.findings(at: Date(timeIntervalSince1970: 1_700_000_000)))
        }
    }
    _ = try? PublicKeyPin(key: bytes)
    _ = try? Certificate.all(pem: bytes)
    _ = try? RevocationList.all(pem: bytes)
    return 0
}
