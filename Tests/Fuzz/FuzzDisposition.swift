// Modules: Serialization Multipart
import FoundationEssentials
import LinnetMultipart

/// Parses the input as the Content-Disposition of a part. The result contains no control characters except those that forms
/// escape.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDisposition(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let body =
        Data("--B\r\nContent-Disposition: ".utf8) + Data(UnsafeBufferPointer(start: data, count: count))
        + Data("\r\n\r\n\r\n--B--".utf8)
    var limits = MultipartParser.Limits()
    limits.maximumHeaderBytes = 65_536
    let type = "multipart/form-data; boundary=B"
    guard let parts = try? MultipartPart.all(in: body, contentType: type, limits: limits) else { return 0 }
    for part in parts {
        guard part.name?.utf8.contains(0) != true else { fatalError("A name contains a NUL character.") }
        _ = (part.fileName, part.contentType, part.byteRange)
    }
    return 0
}
