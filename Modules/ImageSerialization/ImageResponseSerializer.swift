import FoundationEssentials
public import LinnetSerialization

/// Decodes a body as an image with gdk-pixbuf.
///
/// PNG, JPEG, GIF (its first frame), BMP, ICO, TIFF and WebP are supported as far as gdk-pixbuf has loaders for them.
/// The bytes tell the format, not the Content-Type.
public struct ImageResponseSerializer: ResponseSerializer, Hashable, Codable {
    /// The responses to accept; the default is a status of 200 to 299 with ``imageContentTypes``.
    public var validation: ResponseValidation
    /// The limits and transformations.
    public var options: ImageDecoder.Options

    /// The content types of the supported formats.
    public static let imageContentTypes = [
        "image/png", "image/jpeg", "image/gif", "image/bmp", "image/x-bmp", "image/x-ms-bmp", "image/x-win-bitmap",
        "image/x-xbitmap", "image/tiff", "image/ico", "image/x-icon", "image/vnd.microsoft.icon", "image/webp",
    ]

    /// Creates a serializer.
    public init(
        validation: ResponseValidation = ResponseValidation(contentTypes: imageContentTypes),
        options: ImageDecoder.Options = ImageDecoder.Options()
    ) {
        self.validation = validation
        self.options = options
    }

    /// Validates the response and decodes its body.
    ///
    /// - Throws: `SerializationError` with `decodingFailed`, whose underlying error is an ``ImageError``.
    public func serialize(_ response: SerializedResponse) throws(SerializationError) -> Bitmap {
        try validation.validate(response)
        do {
            return try ImageDecoder(options: options).decode(response.body)
        } catch {
            throw SerializationError(
                unreadable: response, "The body cannot be decoded as an image", reason: error.message, underlying: error
            )
        }
    }
}

extension ImageResponseSerializer: ScalingImageSerializer {
    /// The same, scaled down to a limit or to ``ImageDecoder/Options/maximumDimension``, whichever is smaller.
    ///
    /// JPEG is scaled while decoding, which takes a fraction of the time and memory; other formats are decoded whole.
    public func serialize(
        _ response: SerializedResponse, toFit limit: Int
    ) throws(SerializationError) -> Bitmap {
        var smaller = self
        smaller.options.maximumDimension = min(options.maximumDimension ?? limit, limit)
        return try smaller.serialize(response)
    }
}

extension ResponseSerializer where Self == ImageResponseSerializer {
    /// Decodes the body as a ``Bitmap``, with the defaults.
    public static var image: Self { Self() }
}
