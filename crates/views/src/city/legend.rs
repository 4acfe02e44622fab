//! What colours mean, as data: the picture's legend is drawn from this, and tests hold it to the colours of buildings.

/// A gradient: colours at equal distances, linear in between. Linear-light RGB, 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient(Vec<[f32; 3]>);

impl Gradient {
    /// How many colours shaders take: a gradient through two, three or five colours is drawn exactly.
    pub const STOPS: usize = 5;

    /// A gradient through these colours; at least one.
    pub fn new(colours: &[[f32; 3]]) -> Gradient {
        assert!(!colours.is_empty(), "a gradient has a colour");
        Gradient(colours.to_vec())
    }

    /// The colour at a position; outside 0 to 1 that of the ends.
    pub fn at(&self, position: f32) -> [f32; 3] {
        let last = self.0.len() - 1;
        let p = if position.is_nan() { 0.0 } else { position.clamp(0.0, 1.0) * last as f32 };
        let low = (p as usize).min(last.saturating_sub(1));
        let (a, b) = (self.0[low], self.0[(low + 1).min(last)]);
        let mix = p - low as f32;
        std::array::from_fn(|i| a[i] * (1.0 - mix) + b[i] * mix)
    }

    /// The gradient as shaders take it: [`Gradient::STOPS`] colours at equal distances.
    pub fn stops(&self) -> [[f32; 3]; Self::STOPS] {
        std::array::from_fn(|i| self.at(i as f32 / (Self::STOPS - 1) as f32))
    }
}

/// One mark of a legend.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Place on the gradient, 0 to 1.
    pub position: f32,
    /// What that place means: the value in units of the city's metric, or of the mode's own.
    pub value: f64,
    /// The same for people, with its unit.
    pub text: String,
}

/// What the colours of a city mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Legend {
    /// What is coloured: `Growth since the first state, bytes`.
    pub title: String,
    /// The colours.
    pub gradient: Gradient,
    /// Ascending by position. Empty where colours mean nothing; a single one where all buildings have one colour.
    pub marks: Vec<Mark>,
}
