import FoundationEssentials
public import LinnetSerialization

/// Decodes an image into a bitmap, with gdk-pixbuf.
///
/// PNG, JPEG, GIF (its first frame), BMP, ICO, TIFF and WebP are read, where gdk-pixbuf has the loader; the bytes decide
/// which it is, not the Content-Type.
public struct ImageResponseSerializer: ResponseSerializer, Hashable {
    /// What is accepted; the default is a status of 200 to 299 with ``imageContentTypes``.
    public var validation: ResponseValidation
    /// The most pixels that are decoded; the default is 64 million, which takes 256 MB.
    ///
    /// An image that says it has more is refused before memory is allocated for it.
    public var maximumPixels: Int

    /// The content types of the formats above.
    public static let imageContentTypes = [
        "image/png", "image/jpeg", "image/gif", "image/bmp", "image/x-bmp", "image/x-ms-bmp", "image/x-win-bitmap",
        "image/tiff", "image/ico", "image/x-icon", "image/vnd.microsoft.icon", "image/webp",
    ]

    /// Creates a serializer.
    public init(
        validation: ResponseValidation = ResponseValidation(contentTypes: imageContentTypes),
        maximumPixels: Int = 64_000_000
    ) {
        self.validation = validation
        self.maximumPixels = maximumPixels
    }

    /// Validates the response and decodes its body.
    ///
    /// - Throws: `SerializationError` with `decodingFailed`; an ``ImageError`` underlies it.
    public func serialize(_ response: SerializedResponse) throws(SerializationError) -> Bitmap {
        try validation.validate(response)
        do {
            return try PixbufDecoder(maximumPixels: maximumPixels).decode(response.body)
        } catch {
            throw SerializationError(
                code: .decodingFailed,
                message: "the body is not an image that can be shown: \(error.message)",
                underlying: error,
                response: response
            )
        }
    }
}
