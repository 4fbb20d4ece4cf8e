// Modules: Serialization ImageSerialization
import FoundationEssentials
import LinnetImageSerialization

private let maximumPixels = 10_000

/// Writes the file that gdk-pixbuf gets of an image: it is hardly larger, it is one image of the same size, and writing
/// it again changes nothing. An image that is decoded has the size in its header.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzImage(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let data = Data(bytes: start, count: count)
    guard let format = ImageFormat(sniffing: data) else { return 0 }
    let info = try? ImageInfo(of: data)
    if let file = try? LoaderFile(of: data, format: format, maximumPixels: maximumPixels) {
        guard file.data.count <= data.count + LoaderFile.maximumGrowth else { fatalError("The file is larger.") }
        check(file, info)
    }
    let options = ImageDecoder.Options(maximumPixels: maximumPixels)
    guard let info, let bitmap = try? ImageDecoder(options: options).decode(data) else { return 0 }
    let isTurned = info.orientation >= 5 && bitmap.width != info.width
    let size = isTurned ? (bitmap.height, bitmap.width) : (bitmap.width, bitmap.height)
    guard size == (info.width, info.height) else { fatalError("The bitmap has another size.") }
    return 0
}

private func check(_ file: LoaderFile, _ info: ImageInfo?) {
    guard let again = try? LoaderFile(of: file.data, format: file.format, maximumPixels: maximumPixels),
        again.data == file.data
    else { fatalError("The file is written anew otherwise.") }
    guard let info, let written = try? ImageInfo(of: file.data) else { return }
    guard written.frameCount == 1 else { fatalError("The file has several images.") }
    // The first frame of an animation may be smaller than its canvas.
    guard
        written.width == info.width && written.height == info.height
            || info.format == .webp && written.width <= info.width && written.height <= info.height
    else { fatalError("The file has another size.") }
}
