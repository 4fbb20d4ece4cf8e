// Testable: Security
import FoundationEssentials
import LinnetMessages

@testable import LinnetSecurity

/// Stores the input's first line as a Strict-Transport-Security field, and upgrades the URLs in the other lines. An
/// upgraded URL differs from the original in its scheme, and in the port of http.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHSTS(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: data, count: count), as: UTF8.self)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).prefix(32).map(String.init)
    let store = HSTSStore(limit: 8, now: { Date(timeIntervalSince1970: 0) })
    guard let known = URL(string: "https://example.com/"), let field = lines.first else { return 0 }
    store.store(strictTransportSecurity: [field], of: known)
    guard store.hosts.allSatisfy({ $0.name == "example.com" && $0.expires.timeIntervalSince1970 > 0 }) else {
        fatalError("\(field) is stored as \(store.hosts).")
    }
    for url in lines.dropFirst().compactMap({ URL(string: $0) }) {
        store.store(strictTransportSecurity: [field], of: url)
        check(store.upgrading(url), url)
    }
    guard store.hosts.count <= 8 else { fatalError("\(store.hosts.count) hosts are stored.") }
    return 0
}

private func check(_ upgraded: URL, _ url: URL) {
    guard upgraded != url else { return }
    guard let old = Origin(url.absoluteString), let new = Origin(upgraded.absoluteString),
        old.scheme == "http", new.scheme == "https", old.host == new.host,
        new.port == (old.port == 80 ? 443 : old.port), url.query() == upgraded.query()
    else { fatalError("\(url) is upgraded to \(upgraded).") }
}
