//! Exports of a city at one time, for other programs: a table as CSV ([`write_csv`]), a scene as binary glTF ([`glb`]).
//!
//! Both are made of the same boxes, which are those that shaders get. Neither knows files or windows.

mod csv;
mod gltf;

pub use self::csv::write_csv;
pub use self::gltf::glb;

use crate::city::{Appearance, CityPlan, CityTheme, Lit, PlotKind};
use glam::Vec3;
use memory_city_analysis::timeline::{Amount, NodeId, Timeline};
use std::collections::HashMap;

/// A city at one point in time.
#[derive(Clone, Copy)]
pub struct ShownCity<'a> {
    /// Where everything stands.
    pub plan: &'a CityPlan,
    /// The trees.
    pub timeline: &'a Timeline,
    /// The look of the city.
    pub appearance: &'a Appearance,
    /// The point in time.
    pub time: usize,
    /// The result of a search, if any.
    pub lit: Option<&'a Lit>,
    /// Its surroundings.
    pub theme: CityTheme,
    /// Buildings and districts with another colour than that of the mode: selected and marked ones. Linear RGB.
    pub painted: &'a HashMap<NodeId, [f32; 3]>,
}

/// The kind of thing that a box stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoxKind {
    /// A district.
    District,
    /// A building.
    Building,
    /// Several groups that share a plot: their number.
    More(u32),
}

/// A box of the city.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownBox {
    /// The kind of thing it stands for.
    pub kind: BoxKind,
    /// The group; for a plot shared by several, the district around.
    pub node: NodeId,
    /// Objects and bytes.
    pub amount: Amount,
    /// Middle of its foot, world units; y is up.
    pub foot: Vec3,
    /// Width, height and depth.
    pub size: Vec3,
    /// Linear RGB.
    pub colour: [f32; 3],
    /// 0 to 1.
    pub opacity: f32,
    /// The found share; `None` without a search.
    pub lit: Option<f32>,
}

impl ShownCity<'_> {
    /// All visible boxes, districts before the buildings on them. Absent buildings are left out.
    pub fn boxes(&self) -> Vec<ShownBox> {
        let ShownCity { plan, timeline, appearance, time, lit, theme, painted } = *self;
        let share = |node: NodeId| lit.map(|lit| lit.shares.get(&node).copied().unwrap_or(0.0));
        let levels = plan.levels();
        let district = |d: &crate::city::District| {
            let (x, z) = d.cell.centre();
            ShownBox {
                kind: BoxKind::District,
                node: d.node,
                amount: timeline.amount(time, d.node),
                foot: Vec3::new(x as f32, d.base as f32, z as f32),
                size: Vec3::new(d.cell.w as f32, (d.top - d.base) as f32, d.cell.h as f32),
                colour: painted.get(&d.node).copied().unwrap_or_else(|| theme.district(d.level, levels)),
                opacity: 1.0,
                lit: share(d.node),
            }
        };
        let gradient = &appearance.legend().gradient;
        let states = appearance.states(plan, timeline, time);
        let building = |(plot, state): (usize, &crate::city::PlotState)| {
            let standing = appearance.standing(*state);
            if standing.side <= 0.0 {
                return None;
            }
            let p = &plan.plots[plot];
            let (x, z) = p.cell.centre();
            let (kind, node, colour) = match plan.kind(plot) {
                PlotKind::Building(node) => {
                    let own = || gradient.at(state.colour());
                    (BoxKind::Building, node, painted.get(&node).copied().unwrap_or_else(own))
                }
                PlotKind::More { parent, count } => (BoxKind::More(count), parent, theme.more()),
            };
            let found = match (kind, lit) {
                (BoxKind::More(_), Some(lit)) => Some(lit_of_rest(plan, timeline, plot, time, lit)),
                _ => share(node),
            };
            Some(ShownBox {
                kind,
                node,
                amount: plan.amount(timeline, plot, time),
                foot: Vec3::new(x as f32, p.ground() as f32, z as f32),
                size: Vec3::new(p.cell.w as f32 * standing.side, standing.height, p.cell.h as f32 * standing.side),
                colour,
                opacity: f32::from(state.opacity) / 65535.0,
                lit: found,
            })
        };
        let districts = plan.districts.iter().map(district);
        districts.chain(states.iter().enumerate().filter_map(building)).collect()
    }
}

/// The found share of the bytes of a shared plot.
fn lit_of_rest(plan: &CityPlan, timeline: &Timeline, plot: usize, time: usize, lit: &Lit) -> f32 {
    let (mut found, mut all) = (0.0, 0.0);
    for node in plan.pruned(plot) {
        let bytes = timeline.amount(time, *node).bytes as f64;
        all += bytes;
        found += bytes * f64::from(lit.shares.get(node).copied().unwrap_or(0.0));
    }
    if all > 0.0 { (found / all) as f32 } else { 0.0 }
}
