/// The limits of what is decoded, and what is made of it.
public struct ImageDecodingOptions: Sendable, Hashable, Codable {
    /// The most pixels that an image may have; the default is 64 million, which takes 256 MB.
    ///
    /// An image that says it has more is refused before memory is allocated for it, and so is one whose decoder would
    /// take more than eight bytes for each of them at once: a TIFF can say that a pixel has 65,535 samples.
    public var maximumPixels: Int
    /// The most frames or pages that an image may have; the default is 1,000. The first of them is decoded.
    public var maximumFrames: Int
    /// How long the longer side may become; larger images are scaled down, with their proportions kept. The default is
    /// nil, which scales nothing.
    ///
    /// JPEG is scaled while it is decoded, and takes memory for the smaller image only; the others are decoded whole.
    public var maximumDimension: Int?
    /// Whether the image is turned and mirrored as its EXIF orientation says; the default is true.
    public var appliesOrientation: Bool

    /// Creates options.
    public init(
        maximumPixels: Int = 64_000_000,
        maximumFrames: Int = 1000,
        maximumDimension: Int? = nil,
        appliesOrientation: Bool = true
    ) {
        self.maximumPixels = maximumPixels
        self.maximumFrames = maximumFrames
        self.maximumDimension = maximumDimension
        self.appliesOrientation = appliesOrientation
    }
}
