// Modules: Serialization
import FoundationEssentials
import LinnetSerialization

/// Parses the input as a query in the styles that the first byte selects. Every input leads to parameters or an error, and in the
/// default styles encoding is stable.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzQuery(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 0 else { return 0 }
    let text = String(decoding: UnsafeBufferPointer(start: data + 1, count: count - 1), as: UTF8.self)
    let choice = Int(data[0])
    var parser = QueryParser()
    parser.arrayStyle = [.brackets, .indices, .repeated, .commaSeparated][choice & 3]
    parser.nestingStyle = choice & 4 == 0 ? .brackets : .dots
    parser.isLenient = choice & 8 != 0
    guard let parameters = try? parser.parse(text) else { return 0 }
    var encoder = QueryEncoder()
    encoder.sortsKeys = false
    encoder.arrayStyle = parser.arrayStyle
    encoder.nestingStyle = parser.nestingStyle
    encoder.emptyCollectionStyle = .bareKey
    guard let written = try? encoder.encode(parameters), choice & 7 == 0 else { return 0 }
    guard let again = try? parser.parse(written), (try? encoder.encode(again)) == written else {
        fatalError("The second encoding differs: \(written)")
    }
    return 0
}
