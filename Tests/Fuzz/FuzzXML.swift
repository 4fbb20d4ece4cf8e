// Modules: Serialization SerializationXML
import FoundationEssentials
import LinnetSerialization
import LinnetSerializationXML

/// Parses the input as XML: as a tree and as events, which must agree, and with an external charset.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzXML(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let document = Data(UnsafeBufferPointer(start: data, count: count))
    let tree = try? XMLTree(parsing: document)
    var depth = 0
    let events = Result {
        try XMLEventParser().parse(document) { event in
            switch event {
            case .startElement: depth += 1
            case .endElement: depth -= 1
            default: break
            }
            precondition(depth >= 0)
        }
    }
    precondition((tree != nil) == ((try? events.get()) != nil))
    precondition(tree == nil || depth == 0)
    let charsets = ["UTF-16", "Shift_JIS", "GB18030", "ISO-2022-JP", "UTF-7", "BIG5-HKSCS", "EUC-KR", "UTF-8"]
    _ = try? XMLTree(parsing: document, charset: charsets[count % charsets.count])
    return 0
}
