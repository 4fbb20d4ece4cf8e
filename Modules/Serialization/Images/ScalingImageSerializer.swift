/// A response serializer that can decode an image smaller than it is, for less work or memory than decoding and scaling
/// it.
///
/// `ImageDownloader` of `LinnetUIState` uses it for variants whose first processor has a
/// ``ImageProcessor/maximumDimension``.
public protocol ScalingImageSerializer<Value>: ResponseSerializer where Value: DecodedImage {
    /// Validates the response, and decodes its body as an image that is scaled down in proportion if its longer side
    /// exceeds a limit.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - limit: The length of the longer side in pixels; less than 1 counts as 1.
    /// - Throws: ``SerializationError``, as without a limit.
    func serialize(_ response: SerializedResponse, toFit limit: Int) throws(SerializationError) -> Value
}
