// Modules: Serialization SerializationXML
import FoundationEssentials
import LinnetSerialization
import LinnetSerializationXML

/// Reads what the fuzzer makes as XML.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzXML(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    _ = try? XMLTree(parsing: Data(UnsafeBufferPointer(start: data, count: count)))
    return 0
}
