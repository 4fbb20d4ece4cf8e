// Modules: Serialization
import FoundationEssentials
import LinnetMessages

/// Parses each line of the input as a host, an authority, a reference and a URL. Written components parse into the same
/// ones.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzURI(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: data, count: count), as: UTF8.self)
    var base = URIReference("http://a/b/c/d;p?q")
    for line in text.split(separator: "\n").prefix(16).map(String.init) {
        if let host = HostName(line), HostName(host.text) != host { fatalError("\(line): another host") }
        if let origin = try? Origin(isSecure: true, authority: line) {
            let again = try? Origin(isSecure: true, authority: origin.authority)
            guard again == origin, again?.authority == origin.authority else { fatalError("\(line): another origin") }
        }
        let reference = URIReference(line)
        let resolved = reference.resolved(against: base)
        let read = URIReference(resolved.text)
        guard read.scheme == resolved.scheme, read.authority == resolved.authority else {
            fatalError("\(line): the authority of \(resolved.text) is another")
        }
        if let url = URL(string: line), let target = try? RequestTarget(parsing: url) {
            guard target.path.utf8.first == UInt8(ascii: "/"), target.path.utf8.allSatisfy(\.isTargetByte) else {
                fatalError("\(line): the target \(target.path)")
            }
        }
        if resolved.scheme != nil { base = resolved }
    }
    return 0
}
