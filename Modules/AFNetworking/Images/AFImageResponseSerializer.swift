public import Foundation  // Data, CGFloat
internal import LinnetMessages
public import LinnetSerialization
internal import Synchronization

/// Reads an image: with a decoder of the program, or as the data that the program draws.
///
/// ```swift
/// import LinnetImageSerialization
/// let serializer = AFImageResponseSerializer { data in try ImageDecoder().decode(data) }
/// ```
open class AFImageResponseSerializer: AFHTTPResponseSerializer, @unchecked Sendable {
    /// Decodes an image; an error, or nil, for one that cannot be decoded. It is called on any thread.
    public typealias Decoder = @Sendable (Data) throws -> (any DecodedImage)?

    /// Creates a serializer with a decoder.
    public convenience init(decoder: @escaping Decoder) {
        self.init()
        self.decoder = decoder
    }

    override class var usualContentTypes: Set<String>? {
        [
            "image/tiff", "image/jpeg", "image/gif", "image/png", "image/ico", "image/x-icon", "image/bmp",
            "image/x-bmp", "image/x-xbitmap", "image/x-win-bitmap",
        ]
    }

    /// Decodes images; nil, the default, leaves them encoded. It is not in archives.
    open var decoder: Decoder? {
        get { state.withLock { $0.decoder } }
        set { state.replace(\.decoder, with: newValue) }
    }

    /// The scale that images have. The default is 1, as there is no screen to ask.
    open var imageScale: CGFloat {
        get { CGFloat(state.withLock { $0.imageScale }) }
        set { state.withLock { $0.imageScale = Double(newValue) } }
    }

    /// Whether the decoder is called for each response; false leaves images encoded. The default is true.
    open var automaticallyInflatesResponseImage: Bool {
        get { state.withLock { $0.inflatesImages } }
        set { state.withLock { $0.inflatesImages = newValue } }
    }

    /// Returns a ``UIImage``; an error for one that cannot be decoded, and nil without an error for an empty body.
    open override func responseObject(for response: URLResponse?, data: Data?, error: NSErrorPointer) -> Any? {
        let settings = state.withLock { $0 }
        return read(response, data, error: error) { data in
            guard !data.isEmpty else { return nil }
            guard settings.inflatesImages, let decoder = settings.decoder else {
                return UIImage(data: data, scale: CGFloat(settings.imageScale))
            }
            guard let image = try decoder(data) else { throw UndecodableImage() }
            return UIImage(data: nil, decoded: image, scale: CGFloat(settings.imageScale))
        }
    }
}

/// A body that a decoder has returned no image for.
private struct UndecodableImage: LocalizedError {
    var errorDescription: String? { "The decoder has returned no image." }
}
